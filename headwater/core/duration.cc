#include "headwater/core/duration.hpp"

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace headwater {

std::optional<double> duration_in_seconds(const std::string& text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view unit(end, last);
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
  for (const auto& [name, seconds] : kUnits) {
    if (unit == name) return number * seconds;
  }
  return std::nullopt;
}

}  // namespace headwater
