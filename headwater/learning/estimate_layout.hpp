#pragma once

#include <vector>

#include "headwater/estimate.hpp"
#include "headwater/m_step_options.hpp"

namespace headwater {

// The places of the numbers of an estimate in flatten(estimate).
struct EstimateLayout {
  explicit EstimateLayout(const Estimate& estimate)
      : channels(estimate.basis.rows()),
        columns(estimate.basis.cols()),
        prior(estimate.basis.size()),
        law(prior + count(estimate.prior.parameters())),
        size(law + count(estimate.law.parameters())) {}

  static Index count(const Parameters& parameters) {
    Index size = 0;
    for (const Parameter& parameter : parameters) size += parameter.value.size();
    return size;
  }

  Index channels;
  Index columns;
  Index prior;  // where its parameters begin
  Index law;
  Index size;
};

// Which of the numbers are learned and have a score. with_slopes: the places among the prior's
// parameters of those that have one (see PriorScores).
std::vector<bool> learned_numbers(const Estimate& estimate, const MStepOptions& options,
                                  const std::vector<Index>& with_slopes);

}  // namespace headwater
