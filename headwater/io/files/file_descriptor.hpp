#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headwater {

// An open file of the operating system, closed when it goes out of scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int number() const { return number_; }

 private:
  int number_ = -1;
};

// The functions below throw InputError, such as "counts.csv: cannot be opened: Is a directory".
// `name` is the name of the file in that message.

FileDescriptor open_for_reading(const std::string& name);

// Duplicates an open descriptor, such as that of standard input.
FileDescriptor duplicate(int number, const std::string& name);

// Waits until there is something to read. Returns 0 at the end of the file.
std::size_t read_some(const FileDescriptor& file, std::span<char> space, const std::string& name);

void write_all(const FileDescriptor& file, std::string_view bytes, const std::string& name);

// Throws an error with the description of errno: "counts.csv: cannot be opened: No such file or
// directory".
[[noreturn]] void throw_system_error(const std::string& name, std::string_view what);
[[noreturn]] void throw_system_error(const std::string& name, std::string_view what, int error);

}  // namespace headwater
