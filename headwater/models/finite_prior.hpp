#pragma once

#include <span>
#include <string>

#include "headwater/models/concepts.hpp"

namespace headwater {

// Any S activation vectors with any transition matrix. One-hot states make it a mixture in time
// (one source at a time); arbitrary states, a hidden Markov NMF. The states are given, the
// transition matrix is learned; a transition of probability zero stays impossible.
class FiniteStatePrior {
 public:
  // states: S x K. Starts in the stationary law of `transition`.
  FiniteStatePrior(Matrix states, Matrix transition);

  // K sources of which exactly one is on, each for 1 / (1 - stay) steps on average.
  static FiniteStatePrior one_hot(Index num_components, double stay);

  std::string name() const { return "finite"; }
  Index num_components() const { return axis_.states.cols(); }
  FiniteChain finite_chain() const { return {{axis_}}; }
  Parameters constants() const { return {{"states", axis_.states}}; }

  Parameters parameters() const { return {{"transition", axis_.transition}}; }
  void set_parameter(const Parameter& parameter);
  // Rows of counts normalised; a state never visited keeps its row.
  void maximise(std::span<const double> moves);

 private:
  void set_transition(Matrix transition);

  FiniteAxis axis_;
};

static_assert(FinitePrior<FiniteStatePrior> && LearnablePrior<FiniteStatePrior>);

}  // namespace headwater
