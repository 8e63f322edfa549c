#pragma once

#include <optional>
#include <string_view>

#include "headwater/io/text/digits.hpp"

namespace headwater {

// Splits a line of a CSV file into cells, from left to right. kReadBehind bytes after the line must
// be readable.
class CellCutter {
 public:
  CellCutter(std::string_view line, char separator)
      : at_(line.data()), end_(line.data() + line.size()), separator_(separator) {}

  bool at_end() const { return at_end_; }

  // The next cell without surrounding spaces and quotes (doubled quotes inside it stay doubled).
  // Nothing if its quotes are invalid; the rest of the line is then not split.
  std::optional<std::string_view> cut();

  // A fast path for a cell that is only a number and begins with a digit, as most do. If the next
  // cell is of this kind, reads it and returns true. The result is correctly rounded.
  bool cut_number(double& value) {
    const Digits whole = read_digits(at_, end_);
    if (whole.count == 0) return false;
    const char* at = at_ + whole.count;
    if (at == end_ || *at == separator_) {
      value = static_cast<double>(whole.value);
      move_behind(at);
      return true;
    }
    return (*at == '.' && whole.count < 8 && cut_fraction(whole, value)) || cut_any_number(value);
  }

  // Reads two cells at once if they have at most 6 digits together and nothing else. This takes
  // hardly longer than one cell. `values` must have room for two.
  bool cut_two_numbers(double* values) {
    const EightBytes bytes = load_eight(at_);
    const std::uint64_t others = find_others(bytes);
    const std::size_t first = first_of(others);
    const std::size_t second = first_of(others & (others - 1));
    const char* at = at_ + second;
    if (first == 0 || second >= 8 || second == first + 1) return false;
    if (at_[first] != separator_ || at > end_ || (at != end_ && *at != separator_)) return false;
    const EightBytes behind = {bytes.bits >> (8 * first + 8)};
    values[0] = static_cast<double>(value_of(bytes, first));
    values[1] = static_cast<double>(value_of(behind, second - first - 1));
    move_behind(at);
    return true;
  }

 private:
  std::optional<std::string_view> cut_quoted(const char* open);
  bool cut_fraction(Digits whole, double& value);
  bool cut_any_number(double& value);
  bool is_space(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  const char* skip_spaces(const char* at) const;
  std::string_view trim(const char* first, const char* last) const;

  void move_behind(const char* cell_end) {
    at_end_ = cell_end == end_;
    at_ = at_end_ ? end_ : cell_end + 1;
  }

  const char* at_;
  const char* end_;
  char separator_;
  bool at_end_ = false;
};

}  // namespace headwater
