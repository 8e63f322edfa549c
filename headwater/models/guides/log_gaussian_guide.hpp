#pragma once

#include "headwater/core/cholesky.hpp"
#include "headwater/models/guides/gaussian_surrogate.hpp"
#include "headwater/prior_arguments.hpp"

namespace headwater {

// The moves of autoregressive states u = log x,
//   u ~ N(mean + persistence (u' - mean), noise^2),
// guided by a likelihood that is Gaussian in u.
class LogGaussianGuide final : public Guide {
 public:
  struct Chain {
    Vector mean, persistence, noise;  // of each component
  };
  void look_at(const Chain& chain, const Evidence& evidence, ConstStates previous,
               const Eigen::Ref<const Vector>& weights);

  std::unique_ptr<Guide> clone() const override {
    return std::make_unique<LogGaussianGuide>(*this);
  }
  void log_worths(ConstStates previous, Eigen::Ref<Vector> out) const override;
  void draw(const RandomBlock& random, ConstStates previous, States next) const override;
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const override {
    surrogate_.log_values(states, out);
  }
  void draw_near(const RandomBlock& random, ConstStates previous, double step, ConstStates states,
                 States next) const override;

 private:
  void set_variance(bool is_first);
  void predict(ConstStates previous, const Eigen::Ref<const Vector>& weights);
  // Where the states before lead on average; so many rows where there are none.
  States means_after(ConstStates previous, Index rows) const;

  Chain chain_;
  GaussianSurrogate surrogate_;
  Vector predicted_mean_;
  Matrix predicted_precision_;
  Matrix deviations_;
  Vector variance_;
  Matrix covariance_;
  Cholesky factor_;
};

}  // namespace headwater
