#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headwater/core/growing.hpp"
#include "headwater/emission.hpp"
#include "headwater/filters/state_search.hpp"
#include "headwater/models/packed_chain.hpp"
#include "headwater/random.hpp"
#include "headwater/reports.hpp"

namespace headwater {

struct BeamOptions {
  Index width = 256;  // states that are kept, at most; 1 or more
  std::uint64_t seed = 1;
};

// The law of the activations given the observations so far, on a few joint states of a finite chain
// that has too many for all of them: those that matter, weighed exactly given those of the step
// before, and thinned out to `width` of them without a bias [FearnheadClifford2003]. Where there
// are no more states than that, it is the exact filter.
class BeamFilter {
 public:
  // The emission has K columns, or K + 1 when the chain has K components and there is a background.
  BeamFilter(const FiniteChain& chain, const Emission& emission, const BeamOptions& options);

  // Parameters for the steps to come; the law so far stays.
  void set_chain(const FiniteChain& chain);
  void set_basis(const Matrix& basis) { emission_.set_basis(basis); }
  void set_law(const AnyLaw& law) { emission_.set_law(law); }
  void set_season(const Season& season) { emission_.set_season(season); }

  FilterStep step(const Observation& y);
  bool has_started() const { return time_ >= first_time_; }
  // The next step begins a new sequence: from the stationary law. Time goes on, so that no random
  // number is used twice.
  void restart();
  // The same for a step that is made elsewhere; the next one here begins a new sequence.
  void pass_over() { ++time_; }

  // Activations drawn from the law of x_t given y_1..t-1, one a row.
  void sample_predicted(Generator& generator, Matrix& out) const;
  void exchange(StateArchive& archive);

  const std::vector<PackedState>& states() const { return states_; }  // all different
  Eigen::Map<const Vector> weights() const {                          // sum to one
    return {weights_.data(), static_cast<Index>(weights_.size())};
  }
  const Emission& emission() const { return emission_; }
  const Matrix& basis() const { return emission_.basis(); }
  // Shared: windows of past steps hold on to the chain that each step was made with.
  const std::shared_ptr<const PackedChain>& chain() const { return chain_; }

  Vector predicted_activation() const { return predicted_; }  // E[x_t | y_1..t-1]
  // E[x_t | y_1..t], of all states that were weighed.
  Vector filtered_activation() const { return filtered_; }

 private:
  bool is_first() const { return time_ == first_time_; }  // the step that is being made
  bool holds_all() const;
  void predict_axes();
  void set_kept_marginal(Index axis);
  void choose_candidates();
  void weigh_beforehand();             // candidates, by their predicted probabilities
  double take_in(BeamReport& report);  // log of the normaliser
  void keep(BeamReport& report);

  std::shared_ptr<const PackedChain> chain_;
  Emission emission_;
  BeamOptions options_;
  RandomStream random_;
  std::uint64_t time_ = 0;
  std::uint64_t first_time_ = 1;  // of the present sequence

  std::vector<PackedState> states_;
  std::vector<double> weights_;
  std::vector<PackedState> before_;  // the states of the step before
  std::vector<double> weights_before_;
  Vector predicted_;
  Vector filtered_;

  std::vector<Vector> marginals_;  // of each axis, given the observations so far
  std::vector<Vector> laws_;       // ... predicted; logarithms
  std::vector<Vector> tilts_;      // log of these over what the states that were kept predict
  Observation nothing_seen_;
  Evidence evidence_;
  StateSearch search_;
  std::vector<PackedState> begin_;  // where the search begins
  std::vector<PackedState> candidates_;
  double overlooked_ = 0;      // share of what the search has found that is no candidate
  GrowingMatrix activations_;  // of the candidates
  GrowingVector log_weights_;
  GrowingVector candidate_weights_;
  GrowingVector weights_unthinned_;
  Vector kept_marginal_;
  Vector by_kept_;
  std::vector<Index> kept_;
  std::vector<double> transitions_;
};

}  // namespace headwater
