#include "headwater/kernels/ancestors.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace headwater {

namespace {

// Converts weights to integers in units of sum / (n 2^fraction_bits), so that neighbouring points
// are 2^fraction_bits units apart.
class Units {
 public:
  Units(std::size_t num_points, double sum)
      : fraction_bits_(51 - static_cast<int>(std::bit_width(num_points))),
        // The conversion factor could overflow, so it is split: the power of two brings the sum
        // near 1.
        power_(std::ldexp(1, std::clamp(-std::ilogb(sum), -1000, 1000))),
        factor_(std::ldexp(static_cast<double>(num_points), fraction_bits_) / (sum * power_)) {}

  int fraction_bits() const { return fraction_bits_; }

  // Rounds to the nearest integer: after adding 2^52, the low bits of the double are that integer.
  std::int64_t of_weight(double weight) const {
    const double shifted = weight * power_ * factor_ + 0x1p52;
    return std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(0x1p52);
  }

  std::int64_t of_offset(double offset) const {
    return static_cast<std::int64_t>(offset *
                                     static_cast<double>(std::int64_t{1} << fraction_bits_));
  }

 private:
  int fraction_bits_;
  double power_;
  double factor_;
};

}  // namespace

// Index j gets the points between the cumulative weights c_(j-1) and c_j. Point i lies at i 2^f +
// o, so the points below c are those with i < ceil((c - o) / 2^f).
void systematic_ancestors(std::span<const double> weights, double sum, double offset,
                          std::span<std::int32_t> ancestors) {
  assert(offset >= 0 && offset < 1);
  const Units units(ancestors.size(), sum);
  const int f = units.fraction_bits();
  const std::int64_t to_round_up = (std::int64_t{1} << f) - 1 - units.of_offset(offset);
  // Most indices get few points, so this many are written without a test, as long as there is room.
  constexpr std::size_t kAtOnce = 8;
  const std::size_t n = ancestors.size();
  std::int64_t cumulated = 0;
  std::size_t done = 0;
  std::size_t j = 0;
  const auto next_end = [&] {
    cumulated += units.of_weight(weights[j]);
    return std::min(static_cast<std::size_t>((cumulated + to_round_up) >> f), n);
  };
  for (; j < weights.size() && done + kAtOnce <= n; ++j) {
    const std::size_t end = next_end();
    for (std::size_t c = 0; c < kAtOnce; ++c) ancestors[done + c] = static_cast<std::int32_t>(j);
    if (end > done + kAtOnce) {
      std::fill(ancestors.begin() + done + kAtOnce, ancestors.begin() + end,
                static_cast<std::int32_t>(j));
    }
    done = end;
  }
  for (; j < weights.size() && done < n; ++j) {
    const std::size_t end = next_end();
    while (done < end) ancestors[done++] = static_cast<std::int32_t>(j);
  }
  if (done == n) return;
  std::size_t last = weights.size() - 1;
  while (last > 0 && weights[last] <= 0) --last;
  std::fill(ancestors.begin() + done, ancestors.end(), static_cast<std::int32_t>(last));
}

}  // namespace headwater
