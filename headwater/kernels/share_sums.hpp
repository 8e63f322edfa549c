#pragma once

#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// The expected contributions of the components to the counts of some channels. For activations x_i
// in the rows of an n x K block, with weights w_i, and channels j with one count each:
//   out[j K + k] += rows[j K + k] counts[j] sum_i w_i x(i, k) / lambda_j(x_i),
//   lambda_j(x) = sum_k rows[j K + k] x_k.
// Terms of zero intensity are omitted. `out` overlaps no input.
void add_share_sums(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                    std::span<const double> rows, std::span<const double> counts,
                    std::span<double> out);

}  // namespace headwater
