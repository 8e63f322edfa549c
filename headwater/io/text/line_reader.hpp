#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/files/byte_source.hpp"
#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

struct LineLimits {
  std::size_t read_size = 1 << 18;     // bytes per read
  std::size_t longest_line = 1 << 28;  // a longer line is refused: the file is hardly text
};

// Reads text line by line, each line as soon as its end has arrived. Memory is bounded by the
// longest line.
class LineReader {
 public:
  LineReader(std::unique_ptr<ByteSource> bytes, std::string name, LineLimits limits = {});
  LineReader(FileDescriptor file, const std::string& name, LineLimits limits = {});

  // The next line without its end (LF or CRLF), valid until the next call; nothing at the end of
  // the file. A last line without an end is returned too, unless reading was stopped. A byte order
  // mark before the first line is skipped. kReadBehind bytes after a line can be read. Throws
  // BadRow if a line is too long, or if a pipe ends in the middle of it: its last number may have
  // had more digits. The next call continues after it.
  std::optional<std::string_view> next();

  const std::string& name() const { return name_; }
  std::int64_t line_number() const { return line_number_; }  // of the last line, from 1
  bool was_stopped() const { return bytes_->was_stopped(); }
  // How often a followed file was replaced; lines are numbered from 1 again then.
  std::int64_t num_replaced() const { return num_replaced_; }
  // What was read from a pipe but not returned, or with the last line before it. Empty for what can
  // be read again, and for compressed bytes, which cannot be continued in the middle.
  std::string unread(bool with_last_line) const;
  std::optional<double> fraction_read() const { return bytes_->fraction_used(end_ - begin_); }

 private:
  bool fill();
  void begin_replacement(std::size_t end_of_replaced);
  void make_room();
  std::size_t read(std::size_t room);
  std::string_view take(std::size_t length, std::size_t length_with_end);
  [[noreturn]] void refuse_cut_off_line();
  [[noreturn]] void refuse_long_line();
  void skip_long_line();

  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  LineLimits limits_;
  std::vector<char> buffer_;  // [begin_, end_) has been read but not returned
  std::size_t capacity_;      // the buffer is kReadBehind bytes larger
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t last_ = 0;  // length of the last line, with its end, which stands before begin_
  bool at_end_ = false;
  bool in_long_line_ = false;
  std::int64_t line_number_ = 0;
  std::int64_t num_replaced_ = 0;
};

}  // namespace headwater
