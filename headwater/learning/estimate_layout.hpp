#pragma once

#include <vector>

#include "headwater/estimate.hpp"
#include "headwater/m_step_options.hpp"

namespace headwater {

// The longest period whose gains have standard errors.
inline constexpr Index kLongestKnownPeriod = 400;

// The places of the numbers of an estimate in numbers_of(estimate).
struct EstimateLayout {
  explicit EstimateLayout(const Estimate& estimate)
      : channels(estimate.basis.rows()),
        columns(estimate.basis.cols()),
        prior(estimate.basis.size()),
        law(prior + count(estimate.prior.parameters())),
        profiles(law + count(estimate.law.parameters())),
        size(profiles) {
    for (const Matrix& profile : estimate.season.profiles()) size += profile.size();
  }

  static Index count(const Parameters& parameters) {
    Index size = 0;
    for (const Parameter& parameter : parameters) size += parameter.value.size();
    return size;
  }

  Index channels;
  Index columns;
  Index prior;  // where its parameters begin
  // Which of the profiles the number at this place belongs to.
  std::size_t profile_of(Index place, const Estimate& estimate) const;
  // Whether this profile, K x P, has standard errors.
  static bool knows(const Matrix& profile) { return profile.cols() <= kLongestKnownPeriod; }

  Index law;
  Index profiles;  // of the season, one after another
  Index size;
};

// All numbers of an estimate: flatten(estimate), and behind it the profiles of the season.
Vector numbers_of(const Estimate& estimate);

// The numbers of an estimate that are taken together at most.
inline constexpr Index kMostTogether = 400;
// Numbers that are taken together, by their places. is_full: all of them; if not, those of each
// channel, the parameters of the prior, and the profiles, or if these are many, the gains of each
// component.
std::vector<std::vector<Index>> groups_of(const Estimate& estimate, const std::vector<bool>& active,
                                          bool is_full);
Index largest_group(const Estimate& estimate);

// Which of the numbers are learned and have a score. with_slopes: the places among the prior's
// parameters of those that have one (see PriorScores).
std::vector<bool> learned_numbers(const Estimate& estimate, const MStepOptions& options,
                                  const std::vector<Index>& with_slopes);

}  // namespace headwater
