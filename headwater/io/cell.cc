#include "headwater/io/cell.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "headwater/io/text/utf8.hpp"
#include "headwater/observation.hpp"

namespace headwater {
namespace {

constexpr int kLongestShown = 20;

bool says_missing(std::string_view text) {
  const bool is_na =
      text.size() == 2 && (text[0] == 'N' || text[0] == 'n') && (text[1] == 'A' || text[1] == 'a');
  return text.empty() || is_na || text == "#N/A" || text == "#NA" || text == "#N/A N/A";
}

bool has_negative_exponent(std::string_view text) {
  return text.find("e-") != text.npos || text.find("E-") != text.npos;
}

// Parses a number outside the range of double. A number that is too small rounds to 0, as every
// number rounds to the nearest double; one that is too large is an error. from_chars reports both
// as out of range, so long double decides which it is, and beyond its range the sign of the
// exponent.
Cell parse_beyond_range(const char* first, const char* last) {
  long double value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  const bool is_tiny =
      error == std::errc() ? std::abs(value) < 1 : has_negative_exponent({first, last});
  if (!is_tiny) return {0.0, CellTrouble::out_of_range};
  return {0.0, *first == '-' ? CellTrouble::negative : CellTrouble::none};
}

}  // namespace

Cell check_value(double value) {
  if (value >= 0 && value <= kLargestCount) return {value + 0.0, CellTrouble::none};  // -0 + 0 is 0
  if (std::isnan(value)) return {std::numeric_limits<double>::quiet_NaN(), CellTrouble::missing};
  if (std::isinf(value)) return {value, CellTrouble::not_finite};
  return {value, value < 0 ? CellTrouble::negative : CellTrouble::out_of_range};
}

Cell parse_cell(std::string_view text) {
  if (says_missing(text)) return check_value(std::numeric_limits<double>::quiet_NaN());
  const char* first = text.data();
  const char* last = first + text.size();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++first;
  double value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  if (end != last || error == std::errc::invalid_argument) return {0.0, CellTrouble::not_a_number};
  if (error == std::errc::result_out_of_range) return parse_beyond_range(first, last);
  return check_value(value);
}

std::string describe_trouble(CellTrouble trouble, std::string_view shown, const CellRules& rules) {
  switch (trouble) {
    case CellTrouble::missing:
      return fmt::format("{} is missing; {} must all be given", shown, rules.subject);
    case CellTrouble::not_a_number:
      return fmt::format("{} is not a number", shown);
    case CellTrouble::out_of_range:
      return fmt::format("{} is out of range; {} must be at most {:g}", shown, rules.subject,
                         kLargestCount);
    case CellTrouble::negative:
      return fmt::format("{} is negative; {} must be 0 or more", shown, rules.subject);
    case CellTrouble::not_finite:
      return fmt::format("{} is not finite; {} must be finite", shown, rules.subject);
    case CellTrouble::none:
      break;
  }
  return fmt::format("{} is valid", shown);
}

std::string quote_text(std::string_view text) {
  std::string shown = "'";
  for (int count = 0; !text.empty(); ++count) {
    if (count == kLongestShown) {
      shown += "…";
      break;
    }
    shown += take_character(text);
  }
  return shown + "'";
}

}  // namespace headwater
