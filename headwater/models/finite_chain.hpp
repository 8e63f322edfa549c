#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "headwater/core/matrix.hpp"
#include "headwater/kernels/kronecker.hpp"

namespace headwater {

// One independent part of a finite chain: S states, each an activation of the components that this
// part drives. One component that is off or on is an axis with states (0, 1); a hidden Markov model
// that picks one of S activation vectors is a single axis with K columns.
struct FiniteAxis {
  Matrix states;      // S x components of this axis: one row a state; nonnegative
  Vector initial;     // law of the first state
  Matrix transition;  // S x S; row i is the law of the next state after state i

  Index size() const { return transition.rows(); }
};

// A Markov chain on finitely many activations: independent axes, their components stacked. The
// joint states are all combinations, axis 0 varying fastest. The exact engine costs O(n sum_k S_k)
// a step for n = prod_k S_k joint states, so a prior gains by being split into axes.
struct FiniteChain {
  std::vector<FiniteAxis> axes;

  Index num_components() const;
  Index num_states() const;
  // How many expected moves i -> j an E-step counts: sum_k S_k^2, axis by axis, row by row. This
  // is the layout of the statistics that a finite prior's M-step is given.
  Index num_moves() const;

  Matrix joint_states() const;  // n x K
  Vector joint_initial() const;
  KroneckerOperator joint_transition() const;
};

// Throws UsageError, beginning with `what`, unless shapes fit, states are finite and nonnegative,
// and every law is nonnegative and sums to one.
void validate(const FiniteChain& chain, std::string_view what);

// A law pi with pi P = pi. Where there are several, the one of least norm.
Vector stationary_law(const Matrix& transition);

}  // namespace headwater
