#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/finite_chain.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// What an iteration of a search may cost by each engine, in cells: states (or particles, or
// columns) times channels. Each was chosen so that a search takes some ten seconds on one core.
constexpr double kMostStateCells = 3e7;
constexpr double kMostParticleCells = 1e8;
constexpr double kMostBeamCells = 2e8;
constexpr double kMostFastCells = 1e9;
// What an observation costs beside its channels, in channels, at least.
constexpr Index kChannelsOfOverhead = 20;
// Passes of the fast engine over an observation's counts.
constexpr Index kFastPasses = 20;

// EM goes on in rounds, on more observations each time, with the better part of the trials.
struct Round {
  Index observations;
  std::int64_t iterations;
  std::size_t trials;  // that go on from it
};

// How many observations EM is tried on, if that can be afforded.
Index observations_to_try(Index num_channels, Index num_components);

// A move between states costs as much as a channel, so that it is more where an axis has many
// states.
Index moves_out_of_a_state(const FiniteChain& chain);

// How thorough a search for a start is.
struct SearchEffort {
  Index random_starts = 4;
  bool is_light = false;  // fewer rounds of fewer iterations
  // EM is tried on fewer observations where an iteration is dear, but never on less than this.
  Index fewest_observations = 200;
  double share_of_cells = 1;            // of those that an iteration may cost
  std::int64_t choice_iterations = 15;  // of EM, to compare laws and expectations
  std::size_t most_laws = 5;            // that are compared

  // For a search beside a running fit, whose result is soon replaced by that of a thorough one: a
  // tenth to a third of its cost on as many observations.
  static SearchEffort light();

  // So many of the n observations: where there are many channels each tells more. width: states,
  // particles or columns that are looked at for each channel.
  Index affordable(Index n, Index width, Index num_channels, double most_cells,
                   Index overhead = kChannelsOfOverhead) const;

  // On n observations at most.
  std::vector<Round> rounds_by_exact_em(Index n) const;
  std::vector<Round> rounds_by_stand_in(Index n) const;
  std::vector<Round> rounds_by_particles(Index n, bool has_scale) const;
  std::vector<Round> rounds_by_engine(Index n) const;
};

// How many of the first observations a search for a start looks at: enough to tell sources apart,
// and no more than fit a bounded memory. More where activations are unbounded: cumulants of these
// vary much, and none of the other beginnings comes near, since EM hardly moves where counts tell
// the activations well.
Index start_buffer(Index num_channels, const AnyPrior& prior, Index at_least = 0);

}  // namespace headwater
