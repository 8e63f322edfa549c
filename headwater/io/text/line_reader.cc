#include "headwater/io/text/line_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/io/cell.hpp"
#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/text/digits.hpp"

namespace headwater {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> bytes, std::string name, LineLimits limits)
    : bytes_(std::move(bytes)),
      name_(std::move(name)),
      limits_(limits),
      buffer_(limits.read_size + kReadBehind),
      capacity_(limits.read_size) {}

LineReader::LineReader(FileDescriptor file, const std::string& name, LineLimits limits)
    : LineReader(std::make_unique<FileBytes>(std::move(file), name), name, limits) {}

std::optional<std::string_view> LineReader::next() {
  if (in_long_line_) skip_long_line();
  std::size_t searched = 0;
  for (;;) {
    const char* first = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const void* found = size > searched ? memchr(first + searched, '\n', size - searched) : nullptr;
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - first);
      return take(length, length + 1);
    }
    const std::int64_t replaced = num_replaced_;
    if (fill()) {
      searched = num_replaced_ == replaced ? size : 0;
      continue;
    }
    if (size == 0 || bytes_->was_stopped()) return std::nullopt;
    if (bytes_->can_be_cut_off()) refuse_cut_off_line();
    return take(size, size);
  }
}

// Reads more bytes after those in the buffer. Returns false at the end of the file, and never reads
// again after it: a terminal would ask for more input.
bool LineReader::fill() {
  if (at_end_) return false;
  make_room();
  const std::size_t end = end_;
  const std::size_t count = read(std::min(capacity_ - end_, limits_.read_size));
  end_ += count;
  at_end_ = count == 0;
  if (bytes_->num_replaced() != num_replaced_) begin_replacement(end);
  return !at_end_;
}

void LineReader::begin_replacement(std::size_t end_of_replaced) {
  const bool is_cut_off = end_of_replaced > begin_;
  const std::int64_t line_number = line_number_ + 1;
  num_replaced_ = bytes_->num_replaced();
  begin_ = end_of_replaced;
  line_number_ = 0;
  if (!is_cut_off) return;
  throw BadRow(
      fmt::format("{}:{}: the file ended in the middle of this line when a new file took "
                  "its name",
                  name_, line_number));
}

std::string LineReader::unread(bool with_last_line) const {
  if (!bytes_->is_pipe() || !bytes_->can_be_cut_off()) return {};
  const std::size_t begin = with_last_line ? begin_ - last_ : begin_;
  return {buffer_.data() + begin, end_ - begin};
}

void LineReader::make_room() {
  if (begin_ > 0) {
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    end_ -= begin_;
    begin_ = 0;
    last_ = 0;
  }
  if (end_ < capacity_) return;
  if (end_ >= limits_.longest_line) refuse_long_line();
  capacity_ *= 2;
  buffer_.resize(capacity_ + kReadBehind);
}

std::size_t LineReader::read(std::size_t room) {
  try {
    return bytes_->read({buffer_.data() + end_, room});
  } catch (const DamagedBytes& damage) {
    begin_ = end_ = 0;  // drop the incomplete line
    at_end_ = true;
    throw InputError(line_number_ == 0
                         ? fmt::format("{}: {}", name_, damage.what())
                         : fmt::format("{}: {} after line {}", name_, damage.what(), line_number_));
  }
}

std::string_view LineReader::take(std::size_t length, std::size_t length_with_end) {
  std::string_view line(buffer_.data() + begin_, length);
  begin_ += length_with_end;
  last_ = length_with_end;
  ++line_number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_number_ == 1 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  return line;
}

// The line is dropped for good: what another program sends later does not complete it.
void LineReader::refuse_cut_off_line() {
  const std::string_view line = take(end_ - begin_, end_ - begin_);
  last_ = 0;
  throw BadRow(
      fmt::format("{}:{}: the data end in the middle of a line, after {}; expected a line "
                  "end, without which a number may have been cut off",
                  name_, line_number_, quote_text(line)));
}

// Drops what has been read of the line. The next call of next() skips the rest of it.
void LineReader::refuse_long_line() {
  begin_ = end_ = last_ = 0;
  in_long_line_ = true;
  ++line_number_;
  throw BadRow(fmt::format("{}:{}: the line is longer than {} bytes", name_, line_number_,
                           limits_.longest_line));
}

void LineReader::skip_long_line() {
  in_long_line_ = false;
  for (;;) {
    const void* found = memchr(buffer_.data(), '\n', end_);
    if (found != nullptr) {
      begin_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
      return;
    }
    begin_ = end_ = 0;
    if (!fill()) return;
  }
}

}  // namespace headwater
