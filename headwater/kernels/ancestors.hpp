#pragma once

#include <cstdint>
#include <span>

namespace headwater {

// Systematic resampling: the ancestor of the i-th of n = ancestors.size() points is
// the first index up to which the weights sum to more than (i + offset) / n of `sum`, their sum;
// so ancestors ascend. The weights are nonnegative, `sum` is positive and finite. None of weight
// zero is chosen, nor one beyond the last of positive weight where rounding would have it so.
//
// Sums are taken in whole units of sum / (n 2^f), as small as fit into 51 bits: they are exact, and
// the result is the same on every machine. Each weight is rounded to such a unit, so that a point
// is off by no more than it would be by the rounding of sums. 0 <= offset < 1.
void systematic_ancestors(std::span<const double> weights, double sum, double offset,
                          std::span<std::int32_t> ancestors);

}  // namespace headwater
