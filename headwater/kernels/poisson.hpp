#pragma once

#include <span>

#include "headwater/core/matrix.hpp"

namespace headwater {

// For activations x_i in the rows of an n x K block, and channels j that have a count each:
//   out[i] = sum_j counts[j] log lambda_j(x_i) - sum_k total[k] x(i, k),
//   lambda_j(x) = sum_k rows[j K + k] x_k,
// the Poisson log-likelihood but for its factorials. Counts are positive; everything else is finite
// and nonnegative. A channel of zero intensity makes it -infinity. `out` overlaps nothing.
//
// Channels with whole counts share a logarithm, that of the product of the powers of their
// intensities. Its absolute error is at most 2^-53 times the sum of the counts, no more than that
// of the intensities themselves would make it.
void poisson_log_likelihoods(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                             std::span<const double> counts, std::span<const double> total,
                             std::span<double> out);

}  // namespace headwater
