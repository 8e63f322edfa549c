#pragma once

#include <span>

#include "headwater/kernels/negative_binomial.hpp"
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

// The same of what is softened (see SoftenedChannels):
//   out[j K + k] += sum_i w_i x(i, k) / (1 + z_j(x_i)).
void add_softened_shares(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                         const SoftenedChannels& channels, std::span<double> out);

}  // namespace headwater
