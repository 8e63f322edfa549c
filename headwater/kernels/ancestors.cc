#include "headwater/kernels/ancestors.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace headwater {

namespace {

// Weights in whole units, of which there are 2^fraction_bits from one point to the next.
class Units {
 public:
  Units(std::size_t num_points, double sum)
      : fraction_bits_(51 - static_cast<int>(std::bit_width(num_points))),
        // In two factors, the first of which brings the sum near one: their product may overflow.
        power_(std::ldexp(1, std::clamp(-std::ilogb(sum), -1000, 1000))),
        factor_(std::ldexp(static_cast<double>(num_points), fraction_bits_) / (sum * power_)) {}

  int fraction_bits() const { return fraction_bits_; }

  // Rounded. The last bits of 2^52 and a number below it hold that number, as an integer.
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

// Each index has the points that lie below its cumulated weight and not below that of the one
// before: of the points i 2^f + o, those below c are the ones with i < (c - o) / 2^f, rounded up.
void systematic_ancestors(std::span<const double> weights, double sum, double offset,
                          std::span<std::int32_t> ancestors) {
  assert(offset >= 0 && offset < 1);
  const Units units(ancestors.size(), sum);
  const int f = units.fraction_bits();
  const std::int64_t to_round_up = (std::int64_t{1} << f) - 1 - units.of_offset(offset);
  // Most runs are short: so many are written before anyone asks, as long as there is room.
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
