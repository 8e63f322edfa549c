#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headwater/io/files/file_descriptor.hpp"

// A file that is written line by line while a stream is processed. Each line can be read as soon as
// it is written. "-" is standard output.
class LineFile {
 public:
  // kept: the number of bytes to keep of an existing file; lines are appended after them.
  explicit LineFile(const std::string& name, std::int64_t kept = 0);

  void write(std::string_view line);  // `line` includes its line end
  const std::string& name() const { return name_; }
  std::int64_t length() const { return length_; }

 private:
  std::string name_;
  headwater::FileDescriptor file_;
  std::int64_t length_ = 0;  // including kept bytes; for a pipe, only written ones
};
