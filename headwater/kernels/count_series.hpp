#pragma once

#include <span>

namespace headwater {

// Sums and draws of the series
//   S(m) = sum_(h>=0) m^h r_0 r_1 .. r_(h-1)
// with decreasing ratios r_h >= 0 (as many as are given), for several m >= 0. S(m) must be finite.

// sums[i] = S(means[i]).
void sum_series(std::span<const double> ratios, std::span<const double> means,
                std::span<double> sums);

// Draws h with probability proportional to its term, by inversion of a uniform number u in (0, 1):
// the smallest h for which the sum of the terms up to h exceeds u S(means[i]). `counts` may be
// `uniforms`.
void draw_from_series(std::span<const double> ratios, std::span<const double> means,
                      std::span<const double> uniforms, std::span<double> counts);

}  // namespace headwater
