#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headwater/filters/filter_step.hpp"
#include "headwater/filters/state_search.hpp"
#include "headwater/models/observation.hpp"
#include "headwater/models/packed_chain.hpp"
#include "headwater/random/stream.hpp"

namespace headwater {

struct BeamOptions {
  Index width = 256;  // states that are kept, at most
  std::uint64_t seed = 1;

  void validate() const;  // throws UsageError
};

// The law of the activations given the observations so far, on a few joint states of a finite chain
// that has too many for all of them: those that matter, weighed exactly given those of the step
// before, and thinned out to `width` of them without a bias [FearnheadClifford2003]. Where there
// are no more states than that, it is the exact filter.
class BeamFilter {
 public:
  // basis: M x K, or M x (K + 1) when the chain has K components and there is a background.
  BeamFilter(const FiniteChain& chain, const Matrix& basis, const BeamOptions& options);

  // Parameters for the steps to come; the law so far stays.
  void set_chain(const FiniteChain& chain);
  void set_basis(const Matrix& basis);

  FilterStep step(Observation y);

  // Activations drawn from the law of x_t given y_1..t-1, one a row.
  void sample_predicted(Generator& generator, Matrix& out) const;
  void exchange(StateArchive& archive);

  const std::vector<PackedState>& states() const { return states_; }  // all different
  const Vector& weights() const { return weights_; }                  // sum to one
  const Matrix& basis() const { return basis_; }
  // Shared: windows of past steps hold on to the chain that each step was made with.
  const std::shared_ptr<const PackedChain>& chain() const { return chain_; }

  Vector predicted_activation() const { return predicted_; }  // E[x_t | y_1..t-1]
  // E[x_t | y_1..t], of all states that were weighed.
  Vector filtered_activation() const { return filtered_; }

 private:
  bool holds_all() const;
  void predict_axes();
  Vector kept_marginal(Index axis) const;
  void choose_candidates();
  void weigh_beforehand();           // candidates, by their predicted probabilities
  double take_in(FilterStep& step);  // log of the normaliser
  void keep(FilterStep& step);

  std::shared_ptr<const PackedChain> chain_;
  Matrix basis_;
  Vector column_sums_;
  BeamOptions options_;
  RandomStream random_;
  std::uint64_t time_ = 0;

  std::vector<PackedState> states_;
  Vector weights_;
  std::vector<PackedState> before_;  // the states of the step before
  Vector weights_before_;
  Vector predicted_;
  Vector filtered_;

  std::vector<Vector> marginals_;  // of each axis, given the observations so far
  std::vector<Vector> laws_;       // ... predicted; logarithms
  std::vector<Vector> tilts_;      // log of these over what the states that were kept predict
  SeenChannels seen_;
  StateSearch search_;
  std::vector<PackedState> candidates_;
  double overlooked_ = 0;  // share of what the search has found that is no candidate
  Matrix activations_;     // of the candidates
  Vector log_weights_;
  Vector candidate_weights_;
  std::vector<Index> kept_;
  std::vector<double> transitions_;
};

}  // namespace headwater
