#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// For each phase of a period and each component, averages over the visits to that phase: counts
// that are due to the component, and counts that were expected of it if the profile were 1. Each
// phase has a clock of its own: visit n has the weight c / (n + c - 1), where c = 1 makes a plain
// mean, and with c = 2 later visits, of better estimates, weigh more.
struct PhaseSums {
  PhaseSums() = default;
  PhaseSums(Index num_components, Index period);

  // The means over so many visits to a phase.
  void visit(Index phase, Index count, const Vector& mean_counts, const Vector& mean_expected);
  void exchange(StateArchive& archive);

  Matrix counts;    // K x P
  Matrix expected;  // K x P
  Vector visits;    // P
  double recency = 2;
};

// The expected sufficient statistics that an M-step needs, as weighted averages over time. K counts
// the background too, where there is one.
struct Statistics {
  Statistics(Index num_channels, Index num_components, Index num_prior_statistics,
             Index num_law_statistics = 0);

  void exchange(StateArchive& archive);

  // For later observations to weigh in: everything so far is multiplied by `factor`.
  void discount(double factor);
  // For the sums to be added up anew; what is known of the observations stays.
  void clear_sums();
  // Adds the sums of others, each multiplied by `factor`.
  void add_sums(const Statistics& other, double factor);
  // As if they were of no more than so many observations of equal weight.
  void weigh_at_most(double num_observations);
  // Bookkeeping for one observation that enters with weight `weight` after discount(1 - weight).
  void count_observation(double weight);

  Vector s1;  // K: activations, E[x_k], whether or not a channel was seen
  // M x K: E[(1 - loss_m) x_k], where the loss of a cell is its exposure under the Poisson law (see
  // EmissionSums) and 0 where the cell is missing. B(m, k) is estimated by s2 / (s1 - unseen).
  // Empty while every loss is 1.
  Matrix unseen;
  Matrix s2;                      // M x K: counts of channel m that are due to component k
  Vector s3;                      // what the prior's M-step wants
  Vector s4;                      // what the M-step of the law of the counts wants
  std::vector<PhaseSums> phases;  // of each period; not discounted with the rest

  std::int64_t observations = 0;  // how many are in
  double squared_weights = 0;     // sum of their squared weights

  // All sums, so that they can be averaged alike, and back from one vector that has them one after
  // another. `unseen` comes last: it is empty at first, and was zero then.
  std::array<std::span<const double>, 5> sums() const;
  std::array<std::span<double>, 5> mutable_sums();
  void set_sums(const Vector& flat);
  Index size() const { return s1.size() + s2.size() + s3.size() + s4.size() + unseen.size(); }

  // How many observations of equal weight would be as informative: 1 / sum of squared weights.
  double effective_count() const { return squared_weights > 0 ? 1 / squared_weights : 0; }

  // s1 - unseen for channel m, component k.
  double exposure(Index m, Index k) const {
    return unseen.size() > 0 ? s1[k] - unseen(m, k) : s1[k];
  }
};

}  // namespace headwater
