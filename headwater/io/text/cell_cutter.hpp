#pragma once

#include <optional>
#include <string_view>

#include "headwater/io/text/digits.hpp"

namespace headwater {

// Cuts a line of a CSV file into its cells, from left to right. Behind the line, kReadBehind bytes
// must be readable.
class CellCutter {
 public:
  CellCutter(std::string_view line, char separator)
      : at_(line.data()), end_(line.data() + line.size()), separator_(separator) {}

  bool at_end() const { return at_end_; }

  // The next cell without the spaces and quotes around it (a quote within is still doubled);
  // nothing when its quotes are not closed as they should be, and then the rest is not cut.
  std::optional<std::string_view> cut();

  // Most cells are a number and nothing else, that begins with a digit: true when the next one is,
  // and then it is cut and read in one go. The result is the double nearest to what is written.
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

  // The same for two cells at once, of at most 6 digits in all and nothing else, in hardly more
  // time than for one. `values` has room for two.
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
