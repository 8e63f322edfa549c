#pragma once

#include "headwater/any_law.hpp"

namespace headwater {

struct CumulantStart {
  Matrix basis;  // M x K, every entry positive
  Index columns_found;
};

// A start from the second and third moments of the observations (discrete independent component
// analysis), whatever the prior, as long as the components are independent of each other and their
// activations skewed. Cumulants of the intensities follow from those of the counts by the law of
// the counts; for the Poisson law,
//   S = cov(y) - diag(mean y)                 = sum_k var(x_k) b_k b_k',
//   W S W' = I, third cumulant of W lambda    = sum_k skewness(x_k) u_k (x) u_k (x) u_k,
// the u_k = sd(x_k) W b_k orthonormal. What diagonalises every slice of the latter is U, and B
// follows.
//
// observations: M x n, NaN where a cell is missing, as if cells were missing independently of each
// other. variances: of each x_k in its stationary law, which set the scale. The order of the
// columns is arbitrary; where variances differ, the largest column goes to the component that
// varies most. As many columns are found as S has eigenvalues above the noise, at most M; the
// others, of the components that vary least, are those of `otherwise` (M x K), and so are all if
// the moments overflow.
// Cost O(n (M K + K^3)).
CumulantStart cumulant_start(const Eigen::Ref<const Matrix>& observations, const AnyLaw& law,
                             const Vector& variances, const Matrix& otherwise);

}  // namespace headwater
