#include "headwater/kernels/ancestors.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace headwater {

SystematicPoints::SystematicPoints(std::size_t num_points, double sum, double offset)
    : num_points_(num_points),
      fraction_bits_(51 - static_cast<int>(std::bit_width(num_points))),
      // The conversion factor could overflow, so it is split: the power of two brings the sum
      // near 1.
      power_(std::ldexp(1, std::clamp(-std::ilogb(sum), -1000, 1000))),
      factor_(std::ldexp(static_cast<double>(num_points), fraction_bits_) / (sum * power_)) {
  assert(offset >= 0 && offset < 1);
  const std::int64_t one = std::int64_t{1} << fraction_bits_;
  to_round_up_ = one - 1 - static_cast<std::int64_t>(offset * static_cast<double>(one));
}

// Rounds to the nearest integer: after adding 2^52, the low bits of the double are that integer.
std::int64_t SystematicPoints::units_of(double weight) const {
  const double shifted = weight * power_ * factor_ + 0x1p52;
  return std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(0x1p52);
}

std::int64_t SystematicPoints::sum_of(std::span<const double> weights) const {
  std::int64_t sum = 0;
  for (const double weight : weights) sum += units_of(weight);
  return sum;
}

// Index j gets the points between the cumulative weights c_(j-1) and c_j. Point i lies at i 2^f +
// o, so the points below c are those with i < ceil((c - o) / 2^f).
std::size_t SystematicPoints::choose(std::span<const double> part, std::int32_t first,
                                     std::int64_t cumulated,
                                     std::span<std::int32_t> ancestors) const {
  assert(ancestors.size() <= num_points_);
  // Most indices get few points, so this many are written without a test, as long as there is room.
  constexpr std::size_t kAtOnce = 8;
  const std::size_t n = ancestors.size();
  std::size_t done = num_below(cumulated);
  std::size_t j = 0;
  const auto next_end = [&] {
    cumulated += units_of(part[j]);
    return num_below(cumulated);
  };
  const auto index = [&] { return first + static_cast<std::int32_t>(j); };
  for (; j < part.size() && done + kAtOnce <= n; ++j) {
    const std::size_t end = next_end();
    for (std::size_t c = 0; c < kAtOnce; ++c) ancestors[done + c] = index();
    if (end > done + kAtOnce) {
      std::fill(ancestors.begin() + done + kAtOnce, ancestors.begin() + end, index());
    }
    done = end;
  }
  for (; j < part.size() && done < n; ++j) {
    const std::size_t end = next_end();
    while (done < end) ancestors[done++] = index();
  }
  return done;
}

void SystematicPoints::choose_rest(std::span<const double> weights, std::size_t done,
                                   std::span<std::int32_t> ancestors) const {
  if (done == num_points_) return;
  std::size_t last = weights.size() - 1;
  while (last > 0 && weights[last] <= 0) --last;
  std::fill(ancestors.begin() + done, ancestors.end(), static_cast<std::int32_t>(last));
}

void systematic_ancestors(std::span<const double> weights, double sum, double offset,
                          std::span<std::int32_t> ancestors) {
  const SystematicPoints points(ancestors.size(), sum, offset);
  const std::size_t done = points.choose(weights, 0, 0, ancestors);
  points.choose_rest(weights, done, ancestors);
}

}  // namespace headwater
