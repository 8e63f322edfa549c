#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

// A file that appears under its name complete or not at all: it grows beside its target without a
// name, or where the file system has no such files under a hidden one, and commit() gives it the
// target's. Without commit() nothing stays behind, and a file that had the name before is as it
// was.
//
// What cannot be replaced is written directly: devices, pipes, and "-", which is standard output.
// A symbolic link stays, and the file that it leads to is replaced.
class AtomicFile {
 public:
  // Throws at once when the target cannot be written: "out/model.h5: cannot be written: ...".
  explicit AtomicFile(const std::string& target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  const std::string& name() const { return name_; }  // what errors call it
  const FileDescriptor& descriptor() const { return file_; }
  bool is_direct() const { return is_direct_; }

  void write(std::string_view bytes);
  void overwrite(std::int64_t offset, std::string_view bytes);

  // Once the data are safely on the disk, gives them their name.
  void commit();

 private:
  void open_direct(const std::filesystem::path& target);
  void open_temporary();
  void give_name();
  void copy_mode_of_target();
  void sync_folder() const;

  std::string name_;
  std::filesystem::path target_;  // with symbolic links followed
  std::filesystem::path path_;    // empty as long as the file has no name
  FileDescriptor file_;
  bool is_direct_ = false;
  bool is_committed_ = false;
};

}  // namespace headwater
