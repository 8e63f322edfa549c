#include "headwater/core/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "headwater/error.hpp"

namespace headwater {

namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

// The longest first.
constexpr Unit kUnits[] = {{"w", 604800}, {"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
// Of a row: seconds may be rounded.
constexpr double kRounding = 1e-6;

}  // namespace

std::optional<double> seconds_of_duration(const std::string& text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc() || !(number > 0) || !std::isfinite(number)) return std::nullopt;
  const std::string_view name(end, static_cast<std::size_t>(last - end));
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return number * unit.seconds;
  }
  return std::nullopt;
}

Index steps_of_duration(const std::string& text, double seconds_a_row) {
  const auto seconds = seconds_of_duration(text);
  if (!seconds) {
    throw UsageError(fmt::format(
        "'{}' is not a duration; expected a number and one of s, min, h, d, w, as in 24h", text));
  }
  const double steps = *seconds / seconds_a_row;
  const double whole = std::round(steps);
  if (whole < 1 || whole > 1e15 || std::abs(steps - whole) > kRounding) {
    throw UsageError(fmt::format("{} is not a whole number of rows, which are {} apart", text,
                                 duration_text(seconds_a_row)));
  }
  return static_cast<Index>(whole);
}

std::string duration_text(double seconds) {
  for (const Unit& unit : kUnits) {
    const double number = seconds / unit.seconds;
    if (number >= 1 && number == std::round(number)) return fmt::format("{}{}", number, unit.name);
  }
  return fmt::format("{}s", seconds);
}

}  // namespace headwater
