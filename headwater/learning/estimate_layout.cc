#include "headwater/learning/estimate_layout.hpp"

#include <algorithm>

#include "headwater/emission/levels.hpp"

namespace headwater {

std::vector<bool> learned_numbers(const Estimate& estimate, const MStepOptions& options,
                                  const std::vector<Index>& with_slopes) {
  const EstimateLayout layout(estimate);
  std::vector<bool> learned(static_cast<std::size_t>(layout.size), !options.hold_basis);
  std::fill(learned.begin() + layout.prior, learned.end(), false);
  for (const Index column : with_slopes) learned[layout.prior + column] = true;
  Index at = layout.prior;
  for (const Parameter& parameter : estimate.prior.parameters()) {
    for (Index i = 0; i < parameter.value.size(); ++i, ++at) {
      if (options.holds(parameter.name)) learned[at] = false;
    }
  }
  // Of the laws' parameters, only dispersions have a score among the statistics.
  for (const Parameter& parameter : estimate.law.parameters()) {
    const bool is_learned =
        parameter.name == "dispersion" && !options.holds(parameter.name) && !drifts(estimate.law);
    for (Index i = 0; i < parameter.value.size(); ++i, ++at) learned[at] = is_learned;
  }
  return learned;
}

}  // namespace headwater
