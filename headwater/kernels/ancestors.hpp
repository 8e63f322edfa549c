#pragma once

#include <cstdint>
#include <span>

namespace headwater {

// Systematic resampling of n = ancestors.size() points: the ancestor of point i is the first index
// whose cumulative weight exceeds (i + offset) / n times `sum`, the sum of the weights. Ancestors
// therefore ascend. Weights are nonnegative, `sum` is positive and finite, and 0 <= offset < 1. An
// index of weight zero is never chosen, and rounding never leads past the last index of positive
// weight.
//
// Weights are rounded to integer multiples of sum / (n 2^f), the finest unit for which sums fit
// into 51 bits. Their sums are exact, so the result is the same on every machine. The rounding
// moves a point by no more than the rounding of a floating-point sum would.
void systematic_ancestors(std::span<const double> weights, double sum, double offset,
                          std::span<std::int32_t> ancestors);

}  // namespace headwater
