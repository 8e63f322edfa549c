#pragma once

#include "headwater/emission.hpp"

namespace headwater::reference {

// The exact filter of prior 'gamma' with one component. Given the counts, the activation is
// distributed as a mixture over n of Gamma(shape + n, rate), with the same rate for all n:
//
//   - prediction draws h from Poisson(beta x), which is negative binomial given n, and then x from
//     Gamma(shape + h, r), where r = shape / (1 - persistence) and beta = persistence r;
//   - the update by counts y of channels with intensities b x multiplies by x^(sum y)
//     exp(-x sum b), which adds sum y to n and sum b to the rate.
//
// The only approximation is that components of less than 1e-30 of the largest weight are dropped.
class GammaMixtureFilter {
 public:
  GammaMixtureFilter(double shape, double persistence, Vector basis);

  double step(const Observation& y);  // log p(y_t | y_1..t-1); NaN in y is a missing cell
  double mean() const;                // E[x_t | y_1..t]

 private:
  void predict();
  double update(const Observation& y);

  double shape_;
  double persistence_;
  Vector basis_;

  bool has_started_ = false;
  double rate_;
  Index first_ = 0;     // n of the first weight
  Vector log_weights_;  // normalised after each step
};

}  // namespace headwater::reference
