#pragma once

#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// The two most frequent loops over pairs of states of prior 'relaxed-selection'. A state is the
// distance to the nearer edge, at most 1/2, with a sign for the side. A move is "towards" the edge
// if it stays on its side and does not increase the distance; otherwise it is "away". Rows of
// `previous` and `next` are paired; a single row is paired with every row of the other.

// out[i] = sum_k of log_towards[k] - log d for moves towards the edge and log_away[k] - log(1 - d)
// for moves away, where d is the distance before the move. One logarithm serves all components: its
// absolute error is at most 2^-53 times their number, in addition to the rounding of the sum.
void relaxed_log_densities(const Eigen::Ref<const Matrix>& previous,
                           const Eigen::Ref<const Matrix>& next,
                           std::span<const double> log_towards, std::span<const double> log_away,
                           std::span<double> out);

// out[k] = the total weight of the moves of component k towards the edge.
void weights_towards(const Eigen::Ref<const Matrix>& previous, const Eigen::Ref<const Matrix>& next,
                     std::span<const double> weights, std::span<double> out);

}  // namespace headwater
