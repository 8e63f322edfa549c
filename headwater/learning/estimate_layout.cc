#include "headwater/learning/estimate_layout.hpp"

#include <algorithm>

#include "headwater/emission/levels.hpp"
#include "headwater/learning/estimate.hpp"

namespace headwater {

Vector numbers_of(const Estimate& estimate) {
  const EstimateLayout layout(estimate);
  Vector numbers(layout.size);
  numbers.head(layout.profiles) = flatten(estimate);
  Index at = layout.profiles;
  for (const Matrix& profile : estimate.season.profiles()) {
    numbers.segment(at, profile.size()) = profile.reshaped();
    at += profile.size();
  }
  return numbers;
}

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
  for (const Matrix& profile : estimate.season.profiles()) {
    const bool is_learned = !options.holds(kProfile) && EstimateLayout::knows(profile);
    for (Index i = 0; i < profile.size(); ++i, ++at) learned[at] = is_learned;
  }
  return learned;
}

std::size_t EstimateLayout::profile_of(Index place, const Estimate& estimate) const {
  Index end = profiles;
  std::size_t which = 0;
  for (const Matrix& profile : estimate.season.profiles()) {
    end += profile.size();
    if (place < end) break;
    ++which;
  }
  return which;
}

std::vector<std::vector<Index>> groups_of(const Estimate& estimate, const std::vector<bool>& active,
                                          bool is_full) {
  const EstimateLayout layout(estimate);
  const bool dispersion_a_channel = layout.profiles - layout.law == layout.channels;
  const bool profiles_together = layout.size - layout.profiles <= kMostTogether;
  const Index of_prior = layout.channels;
  const auto group_of = [&](Index place) -> Index {
    if (is_full) return 0;
    if (place < layout.prior) return place % layout.channels;
    if (place < layout.law) return of_prior;
    if (place < layout.profiles) return dispersion_a_channel ? place - layout.law : of_prior;
    if (profiles_together) return of_prior + 1;
    const auto which = static_cast<Index>(layout.profile_of(place, estimate));
    const Index components = estimate.season.num_components();
    return of_prior + 1 + which * components + (place - layout.profiles) % components;
  };
  const Index most =
      of_prior + 1 +
      std::max<Index>(1, std::ssize(estimate.season.profiles()) * estimate.season.num_components());
  std::vector<std::vector<Index>> groups(static_cast<std::size_t>(most));
  for (Index i = 0; i < layout.size; ++i) {
    if (active[i]) groups[static_cast<std::size_t>(group_of(i))].push_back(i);
  }
  std::erase_if(groups, [](const std::vector<Index>& group) { return group.empty(); });
  return groups;
}

Index largest_group(const Estimate& estimate) {
  const EstimateLayout layout(estimate);
  if (layout.size <= kMostTogether) return layout.size;
  const Index gains = layout.size - layout.profiles;
  if (gains <= kMostTogether) return std::max(layout.columns, gains);
  Index longest = layout.columns;
  for (const Matrix& profile : estimate.season.profiles()) {
    if (EstimateLayout::knows(profile)) longest = std::max(longest, profile.cols());
  }
  return longest;
}

}  // namespace headwater
