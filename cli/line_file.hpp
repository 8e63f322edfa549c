#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headwater/io/files/file_descriptor.hpp"
#include "headwater/session/checkpoint.hpp"

// A file that is written line by line while a stream is processed. Each line can be read as soon as
// it is written. "-" is standard output. A regular file is locked against other processes.
class LineFile {
 public:
  // An existing file is cut back to the given length; what could not be written then is written
  // now, and lines follow it.
  explicit LineFile(const headwater::GrowingFile& before);

  // `line` includes its line end. It is remembered until it is written, also if flush() throws.
  void add(std::string_view line) { unwritten_ += line; }
  // Throws InputError if it cannot be written, or if a stop is requested while nobody reads a pipe.
  void flush();

  bool is_stream() const { return !is_regular_; }  // what was written cannot be taken back
  headwater::GrowingFile now() const { return {name_, length_, unwritten_}; }

 private:
  const std::string& shown_name() const;
  void write_to_stream();
  std::size_t write_piece(std::size_t first);  // of unwritten_; returns how many bytes

  std::string name_;
  headwater::FileDescriptor file_;
  bool is_regular_ = false;
  std::int64_t length_ = 0;  // including kept bytes; for a pipe, only written ones
  std::string unwritten_;
};
