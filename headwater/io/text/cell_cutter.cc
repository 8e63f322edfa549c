#include "headwater/io/text/cell_cutter.hpp"

#include <algorithm>
#include <charconv>

#include "headwater/observation.hpp"

namespace headwater {

std::optional<std::string_view> CellCutter::cut() {
  const char* first = skip_spaces(at_);
  if (first != end_ && *first == '"') return cut_quoted(first);
  const char* last = std::find(first, end_, separator_);
  move_behind(last);
  return trim(first, last);
}

std::optional<std::string_view> CellCutter::cut_quoted(const char* open) {
  at_end_ = true;  // reset below if the quotes are valid
  const char* close = std::find(open + 1, end_, '"');
  while (close != end_ && close + 1 != end_ && close[1] == '"') {
    close = std::find(close + 2, end_, '"');
  }
  if (close == end_) return std::nullopt;
  const char* last = skip_spaces(close + 1);
  if (last != end_ && *last != separator_) return std::nullopt;
  move_behind(last);
  return trim(open + 1, close);
}

// An integer of up to 15 digits and its power of 10 are both exact as doubles, so the division is
// the only rounding.
bool CellCutter::cut_fraction(Digits whole, double& value) {
  constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
  const char* first = at_ + whole.count + 1;
  const Digits fraction = read_digits(first, end_);
  const char* at = first + fraction.count;
  if (at != end_ && *at != separator_) return false;
  const double power = kPowers[fraction.count];
  value = (static_cast<double>(whole.value) * power + static_cast<double>(fraction.value)) / power;
  move_behind(at);
  return true;
}

bool CellCutter::cut_any_number(double& value) {
  double number = 0;
  const auto [at, error] = std::from_chars(at_, end_, number);
  if (error != std::errc() || (at != end_ && *at != separator_)) return false;
  if (number > kLargestCount) return false;  // for the slow path to say so
  value = number;
  move_behind(at);
  return true;
}

const char* CellCutter::skip_spaces(const char* at) const {
  while (at != end_ && is_space(*at)) ++at;
  return at;
}

std::string_view CellCutter::trim(const char* first, const char* last) const {
  while (first != last && is_space(*first)) ++first;
  while (first != last && is_space(last[-1])) --last;
  return {first, static_cast<std::size_t>(last - first)};
}

}  // namespace headwater
