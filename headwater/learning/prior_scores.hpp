#pragma once

#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// For each observation, the slopes of log f(state | state before) in the prior's parameters that
// are numbers or lists, one column each; of the first observation, 0. Parameters without a slope
// are left out: `columns` has the place of each that is there among all numbers of
// prior.parameters().
struct PriorScores {
  Matrix slopes;
  std::vector<Index> columns;
};
PriorScores prior_scores(const AnyPrior& prior, const Matrix& states);

}  // namespace headwater
