#pragma once

#include "headwater/models/observation.hpp"

namespace headwater {

// What one observation says of each component when the others are known no better than before it.
// As if activations were Gaussian, of given means and variances, and the log-likelihood quadratic
// around their mode: with J its curvature there, S the inverse of J + diag(1 / v) and m the mode,
// component k is told
//   -(x - r)^2 p / 2,  p = 1 / S_kk - 1 / v_k,  p r = m_k / S_kk - mean_k / v_k.
// Where columns look alike S is wide along their difference, and little is said of either.
class GaussianMessages {
 public:
  // largest: the highest level of each component, which the mode does not exceed.
  void fit(const SeenChannels& seen, const Vector& means, const Vector& variances,
           const Vector& largest);

  const Vector& precisions() const { return precisions_; }
  double log_value(Index k, double x) const { return shifts_[k] * x - precisions_[k] * x * x / 2; }

 private:
  Vector precisions_;
  Vector shifts_;  // p r
};

}  // namespace headwater
