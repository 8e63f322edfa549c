#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headwater {

// Systematic resampling of `num_points` points: the ancestor of point i is the first index whose
// cumulative weight exceeds (i + offset) / num_points times `sum`, the sum of the weights.
// Ancestors therefore ascend. Weights are nonnegative, `sum` is positive and finite, and 0 <=
// offset < 1. An index of weight zero is never chosen, and rounding never leads past the last index
// of positive weight.
//
// Weights are rounded to integer multiples of sum / (num_points 2^f), the finest unit for which
// sums fit into 51 bits. Their sums are exact, so the result is the same on every machine, and the
// same whether the weights are gone through at once or in parts. The rounding moves a point by no
// more than the rounding of a floating-point sum would.
class SystematicPoints {
 public:
  SystematicPoints(std::size_t num_points, double sum, double offset);

  // The sum of some weights, in units.
  std::int64_t sum_of(std::span<const double> weights) const;
  // How many points lie below a cumulative weight.
  std::size_t num_below(std::int64_t cumulated) const {
    return std::min(static_cast<std::size_t>((cumulated + to_round_up_) >> fraction_bits_),
                    num_points_);
  }
  // Writes the points of a part of the weights; those before it sum to `cumulated`. first: the
  // index of its first weight. ancestors: of all points up to the last one of this part. Returns
  // how many points are written by now.
  std::size_t choose(std::span<const double> part, std::int32_t first, std::int64_t cumulated,
                     std::span<std::int32_t> ancestors) const;
  // After all parts: what rounding has left over belongs to the last index of positive weight.
  void choose_rest(std::span<const double> weights, std::size_t done,
                   std::span<std::int32_t> ancestors) const;

 private:
  std::int64_t units_of(double weight) const;

  std::size_t num_points_;
  int fraction_bits_;
  double power_;
  double factor_;
  std::int64_t to_round_up_;
};

// All at once.
void systematic_ancestors(std::span<const double> weights, double sum, double offset,
                          std::span<std::int32_t> ancestors);

}  // namespace headwater
