#pragma once

#include <limits>

namespace headwater {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kMissing = kNaN;

}  // namespace headwater
