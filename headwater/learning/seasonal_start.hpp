#pragma once

#include <vector>

#include "headwater/learning/estimate.hpp"
#include "headwater/observation.hpp"

// How a search for a start deals with a season. It looks at observations that each channel's own
// season has been taken out of; afterwards the channels' profiles are split among the components.

namespace headwater {

// For each period, M x P: how much larger the counts of a channel are at each phase than on
// average. Rows have the mean 1. Phases of few counts are drawn to their neighbours: see
// shrunk_rates.
std::vector<Matrix> channel_profiles(const RecordView& observations,
                                     const std::vector<Index>& periods);

// The same observations with the channels' profiles as exposures.
Record without_season(const RecordView& observations, const std::vector<Matrix>& profiles);

// The estimate with a season such that the expected counts of each channel,
//   profile_P(m, h) sum_k B(m, k) E[x_k],
// are met as well as K components can, in the sense of the Kullback-Leibler divergence. If the
// columns of the basis may change too, channels of one component that peak at other times are told
// apart.
enum class Columns { kChange, kStay };
Estimate with_season(Estimate estimate, const std::vector<Matrix>& profiles,
                     Columns columns = Columns::kChange);

}  // namespace headwater
