#pragma once

#include <array>
#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// An axis of two states within an array over joint states. The array consists of `outer` pairs of
// runs: `inner` numbers with the axis off, then `inner` numbers with the axis on.

// (off, on) <- (m[0] off + m[1] on, m[2] off + m[3] on) for all pairs: one step of the butterfly.
// All sums are of nonnegative products, so a distribution never becomes negative.
void apply_two_state(const std::array<double, 4>& m, double* values, Index outer, Index inner);

// The same along several axes, from the first to the last one given: `inner` numbers for the first,
// twice as many for each one after it, or, if `descends`, half as many.
void apply_two_states(std::span<const std::array<double, 4>> axes, std::span<double> values,
                      Index inner, bool descends);

// The sums of law(i) * values(j) over all pairs, for (i, j) = (off, off), (off, on), (on, off),
// (on, on).
std::array<double, 4> two_state_products(const double* law, const double* values, Index outer,
                                         Index inner);

}  // namespace headwater
