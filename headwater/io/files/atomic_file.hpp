#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

// From here on this process writes no file: what is written goes nowhere. For one of several
// processes that do the same work, of which another writes the files.
void discard_files();
bool discards_files();

// A file that appears under its name complete or not at all. Its bytes are written to an unnamed
// file in the target's folder (or to a hidden file, where the file system has no unnamed ones), and
// commit() renames that file to the target. Without commit(), nothing is left behind and an
// existing target is unchanged.
//
// Targets that cannot be replaced are written directly: devices, pipes, and "-", which is standard
// output. If the target is a symbolic link, the link stays and the file it points to is replaced.
class AtomicFile {
 public:
  // Throws InputError at once if the target cannot be written: "out/model.h5: cannot be written:
  // ...".
  explicit AtomicFile(const std::string& target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  const std::string& name() const { return name_; }  // used in error messages
  const FileDescriptor& descriptor() const { return file_; }
  bool is_direct() const { return is_direct_; }

  void write(std::string_view bytes);
  void overwrite(std::int64_t offset, std::string_view bytes);

  // Syncs the data to disk, then gives the file its final name.
  void commit();

 private:
  void open_direct(const std::filesystem::path& target);
  void open_temporary();
  void give_name();
  void copy_mode_of_target();
  void sync_folder() const;

  std::string name_;
  std::filesystem::path target_;  // after following symbolic links
  std::filesystem::path path_;    // empty while the file has no name
  FileDescriptor file_;
  bool is_direct_ = false;
  bool is_committed_ = false;
};

}  // namespace headwater
