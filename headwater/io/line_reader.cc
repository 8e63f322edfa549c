#include "headwater/io/line_reader.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "headwater/core/error.hpp"

namespace headwater {

LineReader::LineReader(FileDescriptor file, std::string name, LineLimits limits)
    : file_(std::move(file)), name_(std::move(name)), limits_(limits), buffer_(limits.read_size) {
  struct stat status = {};
  if (fstat(file_.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    file_size_ = status.st_size;
    // Standard input may be a file that someone has read a part of.
    offset_ = std::max<std::int64_t>(0, lseek(file_.number(), 0, SEEK_CUR));
  }
}

std::optional<std::string_view> LineReader::next() {
  std::size_t searched = 0;
  for (;;) {
    const char* first = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const void* found = size > searched ? memchr(first + searched, '\n', size - searched) : nullptr;
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - first);
      return take(length, length + 1);
    }
    searched = size;
    if (fill()) continue;
    if (size == 0) return std::nullopt;
    return take(size, size);
  }
}

std::optional<double> LineReader::fraction_read() const {
  if (file_size_ == 0) return std::nullopt;
  const std::int64_t taken = offset_ - static_cast<std::int64_t>(end_ - begin_);
  // The file may have grown since it was opened.
  return std::min(1.0, static_cast<double>(taken) / static_cast<double>(file_size_));
}

// Reads more behind what is there; false at the end of the file, which is not read again: a
// terminal would ask for more.
bool LineReader::fill() {
  if (at_end_) return false;
  make_room();
  const std::size_t room = std::min(buffer_.size() - end_, limits_.read_size);
  const std::size_t count = read_some(file_, {buffer_.data() + end_, room}, name_);
  end_ += count;
  offset_ += static_cast<std::int64_t>(count);
  at_end_ = count == 0;
  return !at_end_;
}

void LineReader::make_room() {
  if (begin_ > 0) {
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ < buffer_.size()) return;
  if (end_ >= limits_.longest_line) {
    throw InputError(fmt::format("{}:{}: the line is longer than {} bytes", name_, line_number_ + 1,
                                 limits_.longest_line));
  }
  buffer_.resize(2 * buffer_.size());
}

std::string_view LineReader::take(std::size_t length, std::size_t length_with_end) {
  std::string_view line(buffer_.data() + begin_, length);
  begin_ += length_with_end;
  ++line_number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace headwater
