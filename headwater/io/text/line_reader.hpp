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
  std::size_t read_size = 1 << 18;     // bytes asked for at a time
  std::size_t longest_line = 1 << 28;  // beyond it, the file is hardly text
};

// Lines of text, each handed out as soon as its end has arrived. Memory is bounded by the longest
// line.
class LineReader {
 public:
  LineReader(std::unique_ptr<ByteSource> bytes, std::string name, LineLimits limits = {});
  LineReader(FileDescriptor file, const std::string& name, LineLimits limits = {});

  // The next line without its end (LF or CRLF), valid until the next call; nothing at the end of
  // the file. A last line that nothing ends counts too, unless the bytes were stopped. A byte order
  // mark before the first line is left out. Behind a line, kReadBehind bytes can be read.
  // BadRow for a line that is too long; the next call goes on behind it.
  std::optional<std::string_view> next();

  const std::string& name() const { return name_; }
  std::int64_t line_number() const { return line_number_; }  // of the last line, from 1
  std::optional<double> fraction_read() const { return bytes_->fraction_used(end_ - begin_); }

 private:
  bool fill();
  void make_room();
  std::size_t read(std::size_t room);
  std::string_view take(std::size_t length, std::size_t length_with_end);
  [[noreturn]] void refuse_long_line();
  void skip_long_line();

  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  LineLimits limits_;
  std::vector<char> buffer_;  // what has been read but not handed out is [begin_, end_)
  std::size_t capacity_;      // the rest of the buffer is what may be read behind a line
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  bool in_long_line_ = false;
  std::int64_t line_number_ = 0;
};

}  // namespace headwater
