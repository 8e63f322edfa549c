#pragma once

#include "headwater/core/cholesky.hpp"
#include "headwater/core/growing.hpp"
#include "headwater/evidence.hpp"

namespace headwater {

// What one observation says of each component when the others are known no better than before it.
// Activations are taken for Gaussian, with given means and variances v, and the log-likelihood for
// quadratic around their common mode m. With J its curvature there and S the inverse of
// J + diag(1 / v), the message to component k is
//   -(x - r)^2 p / 2,  p = 1 / S_kk - 1 / v_k,  p r = m_k / S_kk - mean_k / v_k.
// Where columns look alike S is wide along their difference, and the message says little of either.
class GaussianMessages {
 public:
  // largest: the highest level of each component, which the mode does not exceed.
  void fit(const Evidence& evidence, const Vector& means, const Vector& variances,
           const Vector& largest);

  const Vector& precisions() const { return precisions_; }
  double log_value(Index k, double x) const { return shifts_[k] * x - precisions_[k] * x * x / 2; }

 private:
  void add_up(const Evidence& evidence, const Eigen::Ref<const Matrix>& columns);

  Vector precisions_;
  Vector shifts_;  // p r

  Vector precision_;
  Vector mode_;
  GrowingVector intensities_;
  Forces forces_;
  GrowingMatrix columns_;  // of the basis, in the listed channels
  Vector slope_;
  Matrix curvature_;
  Cholesky factor_;
  Matrix inverse_;
  Vector marginal_;
};

}  // namespace headwater
