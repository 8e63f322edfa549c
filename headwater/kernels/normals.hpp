#pragma once

#include <span>

namespace headwater {

// Normal numbers of mean 0 and variance 1 by [BoxMuller1958], as normal() in distributions.hpp
// draws them: from two uniform numbers u, v in (0, 1),
//   out[i] = sqrt(-2 log u[i]) cos(2 pi v[i]).
// The cosine has an absolute error below 1e-15, hence also what is drawn, relative to the root.
// `out` may be `u` or `v`.
void box_muller(std::span<const double> u, std::span<const double> v, std::span<double> out);

// The other of the pair as well, independent of the first: with the sine for the cosine. Each of
// the results may be `u` or `v`.
void box_muller_pairs(std::span<const double> u, std::span<const double> v,
                      std::span<double> cosines, std::span<double> sines);

}  // namespace headwater
