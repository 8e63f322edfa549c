#pragma once

#include <span>

namespace headwater {

// Standard normal numbers by [BoxMuller1958], as normal() in distributions.hpp draws them: from two
// uniform numbers u, v in (0, 1),
//   out[i] = sqrt(-2 log u[i]) cos(2 pi v[i]).
// The cosine has an absolute error below 1e-15, so out[i] has that error relative to the square
// root. `out` may be `u` or `v`.
void box_muller(std::span<const double> u, std::span<const double> v, std::span<double> out);

// Returns both numbers of each pair: the second has the sine in place of the cosine and is
// independent of the first. Each output may be `u` or `v`.
void box_muller_pairs(std::span<const double> u, std::span<const double> v,
                      std::span<double> cosines, std::span<double> sines);

}  // namespace headwater
