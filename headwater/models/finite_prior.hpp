#pragma once

#include <span>
#include <string>

#include "headwater/concepts.hpp"

namespace headwater {

// S arbitrary activation vectors with an arbitrary transition matrix. With one-hot states, one
// source is active at a time; with general states, this is hidden Markov NMF. The states are given
// and the transition matrix is learned; a transition of probability zero stays impossible.
class FiniteStatePrior {
 public:
  // states: S x K. The chain starts in the stationary distribution of `transition`.
  FiniteStatePrior(Matrix states, Matrix transition);

  // K sources of which exactly one is on, each for 1 / (1 - stay) steps on average.
  static FiniteStatePrior one_hot(Index num_components, double stay);

  std::string name() const { return "finite"; }
  Index num_components() const { return axis_.states.cols(); }
  FiniteChain finite_chain() const { return {{axis_}}; }
  Parameters constants() const { return {{"states", axis_.states}}; }

  Parameters parameters() const { return {{"transition", axis_.transition}}; }
  void set_parameter(const Parameter& parameter);
  // Normalises the rows of the counts; a state that is never visited keeps its row.
  void maximise(std::span<const double> moves);

 private:
  void set_transition(Matrix transition);

  FiniteAxis axis_;
};

static_assert(FinitePrior<FiniteStatePrior> && LearnablePrior<FiniteStatePrior>);

}  // namespace headwater
