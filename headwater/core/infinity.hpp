#pragma once

#include <limits>

namespace headwater {

// The logarithm of nothing.
inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace headwater
