#pragma once

#include <array>

#include "headwater/core/matrix.hpp"

namespace headwater {

// An axis of two states within an array of joint ones: `outer` times over, a run of `inner` numbers
// with the axis off and a run of as many with it on.

// (off, on) <- (m[0] off + m[1] on, m[2] off + m[3] on) for all pairs: the butterfly. Sums of
// nonnegative products only, so that a law never turns negative.
void apply_two_state(const std::array<double, 4>& m, double* values, Index outer, Index inner);

// The sums of law(i) * values(j) over all pairs for i, j = off, off; off, on; on, off; on, on.
std::array<double, 4> two_state_products(const double* law, const double* values, Index outer,
                                         Index inner);

}  // namespace headwater
