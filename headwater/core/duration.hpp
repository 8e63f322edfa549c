#pragma once

#include <optional>
#include <string>

#include "headwater/matrix.hpp"

namespace headwater {

// "90s", "30min", "24h", "7d" or "2w", in seconds; nothing if the text is no such duration. The
// number is positive and may have a fraction.
std::optional<double> seconds_of_duration(const std::string& text);

// How many rows a duration spans that follow each other in so many seconds. Throws UsageError if
// the text is no duration or spans no whole number of rows.
Index steps_of_duration(const std::string& text, double seconds_a_row);

// The longest unit of which it is a whole number: 86400 is "1d", 5400 is "90min".
std::string duration_text(double seconds);

}  // namespace headwater
