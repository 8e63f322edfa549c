#include "headwater/learning/search_effort.hpp"

#include <algorithm>

namespace headwater {

namespace {

// So many for the cumulants of unbounded activations: of ten streams of 'gamma' (M = 8, K = 5,
// persistence .8) the mean cosine of the columns with the truth was below .98 in two with 1,000, in
// one with 2,000 and in none with 4,000.
constexpr Index kObservationsForCumulants = 4000;
// The buffer holds no more cells than this: 32 MB of counts.
constexpr Index kMostBufferedCells = Index{1} << 22;
constexpr Index kFewestBuffered = 20;

// The first round is on few observations: enough to tell a hopeless beginning.
constexpr Index kFirstRound = 300;
// EM is tried on 2 M K observations, within these bounds: with fewer the sources are not told
// apart, with more the search takes longer than the fit.
constexpr Index kFewestTried = 1000;
constexpr Index kMostTried = 3000;

Index few_of(Index n) { return std::min(n, kFirstRound); }

}  // namespace

Index start_buffer(Index num_channels, const AnyPrior& prior, Index at_least) {
  const Index tried = observations_to_try(num_channels, prior.num_components());
  const Index wanted = std::max(at_least, prior.has_scale() ? kObservationsForCumulants : tried);
  return std::clamp<Index>(kMostBufferedCells / num_channels, kFewestBuffered, wanted);
}

Index observations_to_try(Index num_channels, Index num_components) {
  return std::clamp<Index>(2 * num_channels * num_components, kFewestTried, kMostTried);
}

Index moves_out_of_a_state(const FiniteChain& chain) {
  Index moves = 0;
  for (const FiniteAxis& axis : chain.axes) moves += axis.size();
  return std::max(moves, kChannelsOfOverhead);
}

SearchEffort SearchEffort::light() {
  return {.random_starts = 1,
          .is_light = true,
          .fewest_observations = 50,
          .share_of_cells = 0.1,
          .choice_iterations = 8,
          .most_laws = 3};
}

Index SearchEffort::affordable(Index n, Index width, Index num_channels, double most_cells,
                               Index overhead) const {
  const auto cells = static_cast<double>(width * (num_channels + overhead));
  return std::min(
      n, std::max(fewest_observations, static_cast<Index>(share_of_cells * most_cells / cells)));
}

std::vector<Round> SearchEffort::rounds_by_exact_em(Index n) const {
  if (is_light) return {{few_of(n), 10, 2}, {n, 15, 1}};
  return {{few_of(n), 10, 4}, {n, 15, 2}, {n, 30, 1}};
}

std::vector<Round> SearchEffort::rounds_by_stand_in(Index n) const {
  if (is_light) return {{few_of(n), 10, 2}, {n, 10, 2}};
  return {{few_of(n), 10, 4}, {n, 20, 4}};
}

// Where the prior has a scale EM's steps are as they are, and more of them are needed.
std::vector<Round> SearchEffort::rounds_by_particles(Index n, bool has_scale) const {
  if (is_light) return {{n, 5, 1}, {n, 10, 1}};
  if (has_scale) return {{n, 10, 2}, {n, 15, 1}, {n, 50, 1}};
  return {{n, 5, 2}, {n, 10, 1}, {n, 15, 1}};
}

std::vector<Round> SearchEffort::rounds_by_engine(Index n) const {
  if (is_light) return {{few_of(n), 8, 1}, {n, 12, 1}};
  return {{few_of(n), 10, 2}, {n, 20, 1}, {n, 20, 1}};
}

}  // namespace headwater
