#pragma once

#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// The state s of a component of prior 'relaxed-selection' is d or -d, where d, in (0, 1/2], is the
// distance of its activation x to the nearer edge of (0, 1): s = x up to 1/2, s = x - 1 above.

// Moves each particle once, using one uniform number u in (0, 1):
//   u < alpha   towards the edge: with v = u / alpha, d' = d v
//   otherwise   away from it: with v = (u - alpha) / (1 - alpha), to d + (1 - d) v as measured
//               from its own edge; that is d' on the same side up to 1/2, and beyond it
//               d' = (1 - d) (1 - v) on the other side.
// d' is at least kLeastDistance. 0 < alpha < 1. `next` may be `uniforms` or `previous`.
void relaxed_moves(std::span<const double> uniforms, std::span<const double> previous, double alpha,
                   std::span<double> next);

// The activations x of the states: one row a particle, one column a component. `x` may be `states`.
void relaxed_activations(const Eigen::Ref<const Matrix>& states, Eigen::Ref<Matrix> x);

inline constexpr double kLeastDistance = 1e-300;

}  // namespace headwater
