#pragma once

#include <span>

#include "headwater/core/matrix.hpp"

namespace headwater {

// The two loops over pairs of states that prior 'relaxed-selection' is asked for most. A state is a
// distance to an edge, at most 1/2, with a sign for the side; a move goes towards the edge if it
// stays on its side and comes no farther away. Rows of `previous` and `next` are paired; a single
// row is paired with every row of the other.

// out[i] = sum_k log_towards[k] - log d for moves towards, log_away[k] - log(1 - d) for others,
// where d is the distance before the move. One logarithm for all components: its absolute error is
// at most 2^-53 times their number, besides that of rounding the sum.
void relaxed_log_densities(const Eigen::Ref<const Matrix>& previous,
                           const Eigen::Ref<const Matrix>& next,
                           std::span<const double> log_towards, std::span<const double> log_away,
                           std::span<double> out);

// The weights of the moves towards the edge, of one component.
double weight_towards(const Eigen::Ref<const Vector>& previous,
                      const Eigen::Ref<const Vector>& next, std::span<const double> weights);

}  // namespace headwater
