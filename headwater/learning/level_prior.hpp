#pragma once

#include <optional>
#include <string>

#include "headwater/any_prior.hpp"

namespace headwater {

// A stand-in for a prior with too many states: each component is a chain of its own on a few levels
// of activation. The levels are given; the transition matrix, which all components share, is
// learned.
class LevelPrior {
 public:
  // levels: L x K, one column a component.
  LevelPrior(Matrix levels, Matrix transition);

  std::string name() const { return "levels"; }
  Index num_components() const { return levels_.cols(); }
  FiniteChain finite_chain() const;

  Parameters parameters() const { return {{"transition", transition_}}; }
  void set_parameter(const Parameter& parameter);
  void maximise(std::span<const double> moves);

 private:
  Matrix levels_;
  Matrix transition_;
};

static_assert(FinitePrior<LevelPrior> && LearnablePrior<LevelPrior>);

// The stand-in of a prior with as many levels as keep the joint states within `most_states`, up to
// four; with two as long as there are no more than `most_binary_states`, and else nothing. Levels
// are those that leave the least mean square distance to draws from the prior's stationary law,
// transitions how often draws go from one to another.
std::optional<AnyPrior> stand_in(const AnyPrior& prior, Index most_states,
                                 Index most_binary_states);

}  // namespace headwater
