#pragma once

#include <vector>

#include "headwater/observation.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// Looks for periods in the first observations of a stream, at most two of them. Candidates come
// from the periodogram of the total and from that of the channels, with multiples of what was
// found. Each candidate is tried: profiles of the channels, from the first two thirds, are to
// predict the rest better than the same means without them, both multiplied by how busy the latest
// observations were. The best candidate is taken if it is better by more than five standard errors,
// which are those of means over stretches of the rest, since neighbours are alike.
std::vector<StartReport::PeriodChoice> find_periods(const RecordView& observations);

}  // namespace headwater
