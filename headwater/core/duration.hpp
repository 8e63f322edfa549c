#pragma once

#include <optional>
#include <string>

namespace headwater {

// "30s", "15min", "24h", "7d" and "2w" in seconds; nothing for another text.
std::optional<double> duration_in_seconds(const std::string& text);

}  // namespace headwater
