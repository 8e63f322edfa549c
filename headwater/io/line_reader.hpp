#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/file_descriptor.hpp"

namespace headwater {

struct LineLimits {
  std::size_t read_size = 1 << 18;     // bytes asked for at a time
  std::size_t longest_line = 1 << 30;  // beyond it, the file is hardly text
};

// Lines of a file or pipe, each handed out as soon as its end has arrived. Memory is bounded by the
// longest line.
class LineReader {
 public:
  LineReader(FileDescriptor file, std::string name, LineLimits limits = {});

  // The next line without its end (LF or CRLF), valid until the next call; nothing at the end of
  // the file. A last line that nothing ends counts too.
  std::optional<std::string_view> next();

  std::int64_t line_number() const { return line_number_; }  // of the last line, from 1
  std::optional<double> fraction_read() const;               // nothing for a pipe

 private:
  bool fill();
  void make_room();
  std::string_view take(std::size_t length, std::size_t length_with_end);

  FileDescriptor file_;
  std::string name_;
  LineLimits limits_;
  std::vector<char> buffer_;  // what has been read but not handed out is [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::int64_t line_number_ = 0;
  std::int64_t file_size_ = 0;  // 0 when there is no knowing
  std::int64_t offset_ = 0;     // in the file, of end_
};

}  // namespace headwater
