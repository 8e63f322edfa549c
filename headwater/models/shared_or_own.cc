#include "headwater/models/shared_or_own.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"

namespace headwater {

SharedOrOwn::SharedOrOwn(std::string_view name, Vector values, Index num_components, double lower,
                         double upper, Ends ends)
    : values_(std::move(values)) {
  if (values_.size() != 1 && values_.size() != num_components) {
    throw UsageError(fmt::format("{} has {} values; expected 1, or {} (one for each component)",
                                 name, values_.size(), num_components));
  }
  for (const double value : values_) {
    if (value > lower && value < upper) continue;
    if (ends == Ends::kInside) {
      if (value == lower || value == upper) continue;
      throw UsageError(
          fmt::format("{} is {}; expected a number from {} to {}", name, value, lower, upper));
    }
    throw UsageError(
        fmt::format("{} is {}; expected a number inside ({}, {})", name, value, lower, upper));
  }
}

}  // namespace headwater
