#pragma once

#include <span>

namespace headwater {

// -log p, which has a bound.
double score_of_p(double p);

// The rank of a score among others, which are sorted, the largest first; 20 or more of them. Beyond
// the largest tenth it is extrapolated, as PValueRanks says.
double rank_among(std::span<const double> sorted, double score);

}  // namespace headwater
