#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

class KroneckerOperator;

// One independent part of a finite chain: S states, each with an activation for the components of
// this axis. A component that is off or on is an axis with states (0, 1). A hidden Markov model
// that selects one of S activation vectors is a single axis with K columns.
struct FiniteAxis {
  Matrix states;      // S x components of this axis: one row per state; nonnegative
  Vector initial;     // distribution of the first state
  Matrix transition;  // S x S; row i is the distribution of the next state after state i

  Index size() const { return transition.rows(); }
};

// A Markov chain on finitely many activation vectors: independent axes whose components are
// concatenated. The joint states are all combinations, axis 0 varying fastest. The exact engine
// costs O(n sum_k S_k) per step for n = prod_k S_k joint states, so a prior should have as many
// axes as it can.
struct HEADWATER_EXPORT FiniteChain {
  std::vector<FiniteAxis> axes;

  Index num_components() const;
  Index num_states() const;
  // The number of transitions i -> j whose expected counts an E-step computes: sum_k S_k^2, axis by
  // axis, row by row. A finite prior's M-step receives its statistics in this layout.
  Index num_moves() const;

  Matrix joint_states() const;  // n x K
  Vector joint_initial() const;
  KroneckerOperator joint_transition() const;
};

// Throws UsageError, with a message that begins with `what`, unless shapes fit, states are finite
// and nonnegative, and all distributions are nonnegative and sum to one.
HEADWATER_EXPORT void validate(const FiniteChain& chain, std::string_view what);

// A distribution pi with pi P = pi; if there are several, the one of minimal norm.
HEADWATER_EXPORT Vector stationary_law(const Matrix& transition);

}  // namespace headwater
