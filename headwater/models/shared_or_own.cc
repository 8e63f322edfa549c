#include "headwater/models/shared_or_own.hpp"

#include <fmt/format.h>

#include <cmath>

#include "headwater/error.hpp"

namespace headwater {

SharedOrOwn::SharedOrOwn(std::string_view name, Vector values, Index num_components, double lower,
                         double upper)
    : values_(std::move(values)) {
  if (values_.size() != 1 && values_.size() != num_components) {
    throw UsageError(fmt::format("{} has {} values; expected 1, or {} (one for each component)",
                                 name, values_.size(), num_components));
  }
  for (const double value : values_) {
    if (value > lower && value < upper) continue;
    if (std::isinf(upper)) {
      throw UsageError(fmt::format("{} is {}; expected a number over {}", name, value, lower));
    }
    throw UsageError(
        fmt::format("{} is {}; expected a number inside ({}, {})", name, value, lower, upper));
  }
}

}  // namespace headwater
