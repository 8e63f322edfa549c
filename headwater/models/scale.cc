#include "headwater/models/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/error.hpp"

namespace headwater {

void check_scale(std::string_view prior, const Vector& scale, Index num_components) {
  if (scale.size() != num_components) {
    throw UsageError(fmt::format("the scale of prior '{}' has {} values; expected {}", prior,
                                 scale.size(), num_components));
  }
  for (const double value : scale) {
    if (value > 0 && std::isfinite(value)) continue;
    throw UsageError(
        fmt::format("the scale of prior '{}' is {}; expected a number over 0", prior, value));
  }
}

double learned_scale(double scale) { return std::clamp(scale, 1e-100, 1e100); }

}  // namespace headwater
