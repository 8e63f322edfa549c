#pragma once

#include <vector>

#include "headwater/estimate.hpp"
#include "headwater/learning/block_statistics.hpp"
#include "headwater/learning/estimate_layout.hpp"
#include "headwater/learning/m_step_slope.hpp"
#include "headwater/learning/prior_scores.hpp"

namespace headwater {

// What batches of observations have said of an estimate: one row for each batch, one column for
// each of numbers_of(estimate), summed over the observations of the batch. (See standard_errors.hpp
// for the letters.)

// v = F'(S) (s - S).
Matrix moves_of(const MStepSlope& slope, const std::vector<BlockStatistics::Batch>& batches);

// The scores of the basis, of the law and of the season. By Fisher's identity they are expected
// complete ones, which the statistics have.
Matrix scores_of(const Estimate& estimate, const Statistics& shape,
                 const std::vector<BlockStatistics::Batch>& batches);
// Puts those of the prior's parameters, which are known where the states were drawn, into `out`.
void add_prior_scores(const PriorScores& scores, const EstimateLayout& layout,
                      const std::vector<BlockStatistics::Batch>& batches, Matrix& out);

// How far the estimates of the observations were from the last one. Their statistics are moved
// along with them: by d F(S(theta)) / d theta = I - C times as far.
Matrix wandering_of(const Vector& estimate, const std::vector<BlockStatistics::Batch>& batches);

}  // namespace headwater
