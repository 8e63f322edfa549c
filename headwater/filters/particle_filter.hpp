#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/clone_pointer.hpp"
#include "headwater/emission.hpp"
#include "headwater/filters/bridge.hpp"
#include "headwater/filters/proposal.hpp"
#include "headwater/filters/resampling.hpp"
#include "headwater/filters/shared_weights.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/reports.hpp"

namespace headwater {

using Ancestors = std::vector<std::int32_t>;

// In the ranges that options.cc gives.
struct ParticleFilterOptions {
  Index num_particles = 1000;
  Resampling resampling = Resampling::kSystematic;
  // Resampled when the effective size is less than this times the number of particles; 1 or more:
  // at every step.
  double resample_below = 0.5;
  std::uint64_t seed = 1;
  // Whether particles look at the observation before they move; needs a prior that is guided.
  bool guided = false;
  // Then, where the effective size is still less than this times the number of particles, they are
  // brought to their law in stages.
  double bridge_below = 0.3;
  // If they are not guided from the beginning: whether they are from the step on where too few of
  // them carry the weight (see ParticleHealth::is_low_now()).
  bool guided_if_low = false;
};

struct WeightedActivations {
  Matrix activations;  // one row a particle, background included
  Vector weights;      // sum to 1
};

// The law of the activations given the observations so far, as weighted particles: sequential
// importance sampling and resampling [YildirimCemgilSingh2012, sec. 3.3.1], by the prior or by an
// auxiliary filter that is adapted to a likelihood near the true one [PittShephard1999].
//
// A step resamples first, by the weights that the step before ended with, so that those weights
// are there for everybody in between. All randomness is addressed by (seed, time, particle).
class ParticleFilter {
 public:
  // The emission has K columns, or K + 1 when the prior has K components and there is a background.
  ParticleFilter(const AnyPrior& prior, const Emission& emission,
                 const ParticleFilterOptions& options, std::shared_ptr<const ThreadPool> pool);

  // Parameters for the steps to come; the particles stay.
  void set_prior(const AnyPrior& prior) { prior_ = prior; }
  void set_basis(const Matrix& basis) { emission_.set_basis(basis); }
  void set_law(const AnyLaw& law) { emission_.set_law(law); }
  void set_season(const Season& season) { emission_.set_season(season); }
  void set_proposal(std::unique_ptr<Proposal> proposal) { proposal_ = std::move(proposal); }

  FilterStep step(const Observation& y);
  bool has_started() const { return time_ >= first_time_; }
  // The next step begins a new sequence: from the stationary law. Time goes on, so that no random
  // number is used twice.
  void restart() {
    first_time_ = time_ + 1;
    bridge_.restart();
  }
  // The same for a step that is made elsewhere; the next one here begins a new sequence.
  void pass_over() { ++time_; }

  const AnyPrior& prior() const { return prior_; }
  const Emission& emission() const { return emission_; }
  const Matrix& basis() const { return emission_.basis(); }
  const ThreadPool& pool() const { return *pool_; }
  const RandomStream& random() const { return random_; }
  std::uint64_t time() const { return time_; }  // steps made

  Index num_particles() const { return states_.rows(); }
  const Matrix& states() const { return states_; }  // N x state size
  // Of the step before: known from one step to the next, and not saved.
  const Matrix& previous_states() const { return previous_; }
  const Matrix& activations() const { return activations_; }  // N x K, background included
  const Vector& weights() const { return weights_; }          // given y_1..t, sum to 1
  // Of each particle, the one of the step before that it was drawn from: itself, where the step
  // did not resample.
  const Ancestors& ancestors() const { return ancestors_; }

  void exchange(StateArchive& archive);

  WeightedActivations predicted() const;  // particles given y_1..t-1
  Vector predicted_activation() const;    // E[x_t | y_1..t-1]
  Vector filtered_activation() const;     // E[x_t | y_1..t]

 private:
  bool is_first() const { return time_ == first_time_; }  // the step that is being made
  Eigen::Ref<const Matrix> cloud() const;  // the states that are to move: none at first
  bool choose_ancestors();                 // whether by resampling
  void weigh_equally();
  double normalise();  // the weights, from their logarithms
  double effective_size();
  void move(Index first, Index size);
  void rule_out_what_is_no_number(Index first, Index size);
  // Both return the log of the normaliser: -infinity if no weight is left, or 0.
  double take_in_likelihoods(ParticleReport& report);
  double keep_carried_weights();
  RandomBlock random_block(Index first, Purpose purpose) const;
  void become_guided();

  AnyPrior prior_;
  Emission emission_;
  ParticleFilterOptions options_;
  std::shared_ptr<const ThreadPool> pool_;
  ClonePointer<Proposal> proposal_;
  RandomStream random_;
  ParticleHealth health_;  // until particles are guided
  std::uint64_t time_ = 0;
  std::uint64_t first_time_ = 1;  // of the present sequence

  Matrix states_;
  Matrix previous_;  // the states of the step before
  Matrix parents_;   // each particle's ancestor among them
  Matrix activations_;
  Ancestors ancestors_;
  Evidence evidence_;
  Vector log_likelihoods_;
  Vector log_surrogates_;  // of the function that stood for the likelihood; 0 without
  Vector log_carried_;     // log-weights before the observation is seen, normalised
  Vector log_weights_;     // ... and after
  Vector weights_;
  Vector previous_weights_;  // of the step before, where particles looked ahead
  double log_worth_ = 0;     // log sum_i W_i C_i of this step
  SharedWeights shared_;
  SharedResampling resampling_;
  Bridge bridge_;
};

// Whether every row is a state of the prior: on the axes of a finite one, states are numbered.
bool are_states_of(const AnyPrior& prior, const Matrix& states);

}  // namespace headwater
