#pragma once

#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// The lower triangle of a weighted Gram matrix: for the n x K columns c_k,
//   out(k, l) += sum_j weights[j] c_k[j] c_l[j],  l <= k.
// The rest of `out` (K x K, column-major) is not touched, and overlaps nothing. Eigen's
// rankUpdate() does the same without weights, and allocates.
void add_weighted_gram(const Eigen::Ref<const Matrix>& columns, std::span<const double> weights,
                       double* out);

}  // namespace headwater
