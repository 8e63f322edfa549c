#pragma once

#include <span>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// Keeps `most` of some weighted states, all different, such that every state's weight is right in
// expectation, and the squared error of the weights as small as can be [FearnheadClifford2003].
// With the c for which sum_i min(1, w_i / c) = most, states of weight c or more stay as they are;
// each other one is kept with probability w_i / c, and then weighs c.
//
// weights: sum to one; those that are kept are rewritten, and again sum to one. uniform: a number
// inside (0, 1). kept: the indices that are kept, in ascending order: all where there are no more.
void thin_out(std::span<double> weights, Index most, double uniform, std::vector<Index>& kept);

}  // namespace headwater
