#pragma once

#include <span>
#include <vector>

#include "headwater/core/cholesky.hpp"
#include "headwater/models/gamma_chain.hpp"
#include "headwater/models/gamma_draws.hpp"
#include "headwater/models/guides/laplace.hpp"
#include "headwater/models/guides/long_series.hpp"
#include "headwater/prior_arguments.hpp"

namespace headwater {

// The moves of a gamma chain, guided by x^a exp(-b x): x then is Gamma(shape + h + a, rate + b),
// and h has the probabilities
//   p_h proportional to (beta x')^h prod_(j<h) ratio_j,
//   ratio_j = rate / (rate + b) (shape + a + j) / ((shape + j) (j + 1)).
class GuidedGammaMove {
 public:
  // For x' up to `most`. False if that would take too long a series.
  bool set(const GammaChain& chain, double a, double b, double most);

  // Adds to the log worth of each particle that of this component, which comes from `previous`.
  void add_log_worths(std::span<const double> previous, std::span<double> sums) const;
  // Draws component k. `uniforms` are uniform_numbers(), kNumbers of each component.
  void draw(Index k, const RandomBlock& random, States uniforms, std::span<const double> previous,
            std::span<double> next) const;
  static constexpr Index kNumbers = kGammaNumbers + 1;

 private:
  GammaChain chain_{};
  double a_ = 0;
  double b_ = 0;
  double log_constant_ = 0;
  std::vector<double> ratios_;
  // With large means the terms leave the range of numbers: then the series is summed from its
  // largest term on, and is in units of that.
  LongSeries long_series_;
  bool is_long_ = false;
};

// The moves of priors 'gamma' and 'independent', each component guided by a gamma density that has
// the slope of the likelihood at a point, and as much of its curvature as is left when the other
// components are not known.
class GammaGuide final : public ColumnwiseGuide {
 public:
  // chains: one for each component. The first state has the law Gamma(shape, rate - beta).
  bool look_at(const std::vector<GammaChain>& chains, const Evidence& evidence,
               ConstStates previous, const Eigen::Ref<const Vector>& weights);

  std::unique_ptr<Guide> clone() const override { return std::make_unique<GammaGuide>(*this); }
  void log_worths(ConstStates previous, Eigen::Ref<Vector> out) const override;
  void draw(const RandomBlock& random, ConstStates previous, States next) const override;
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const override;

 private:
  void find_point(const Evidence& evidence, ConstStates previous,
                  const Eigen::Ref<const Vector>& weights);
  void temper();

  std::vector<GammaChain> chains_;
  Laplace laplace_;
  Vector predicted_shape_;
  Vector predicted_rate_;
  Vector a_;
  Vector b_;
  Vector mean_;
  Vector tilt_;
  // What is known of a component when the others are not known, over what is known if they are.
  Vector tempered_;
  Vector precision_;
  Matrix sum_;
  Matrix inverse_;
  Cholesky factor_;
  double log_scale_ = 0;  // g~ is divided by its value at the point
  std::vector<GuidedGammaMove> moves_;
};

}  // namespace headwater
