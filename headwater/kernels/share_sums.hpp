#pragma once

#include <span>

#include "headwater/core/matrix.hpp"

namespace headwater {

// What each component is expected to have given of the counts of some channels. For activations x_i
// in the rows of an n x K block, with weights w_i, and channels j that have a count each:
//   out[j K + k] += rows[j K + k] counts[j] sum_i w_i x(i, k) / lambda_j(x_i),
//   lambda_j(x) = sum_k rows[j K + k] x_k.
// Terms of zero intensity are left out. `out` overlaps nothing.
void add_share_sums(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                    std::span<const double> rows, std::span<const double> counts,
                    std::span<double> out);

}  // namespace headwater
