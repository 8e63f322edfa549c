#pragma once

#include <span>
#include <string>

#include "headwater/concepts.hpp"
#include "headwater/models/guides/log_gaussian_guide.hpp"
#include "headwater/models/shared_or_own.hpp"

namespace headwater {

// Positive activations whose logarithms are autoregressive:
//   log x_t - m = persistence (log x_t-1 - m) + noise e_t,   e_t standard normal.
// The chain starts in its stationary distribution, log x ~ N(m, noise^2 / (1 - persistence^2)). The
// state is log x; m is the logarithm of the component's scale, 0 by default.
class LogGaussian {
 public:
  LogGaussian(Index num_components, double persistence, double noise);
  LogGaussian(Index num_components, Vector persistence, Vector noise);

  std::string name() const { return "log-gaussian"; }
  Index num_components() const { return num_components_; }
  Index state_size() const { return num_components_; }

  void sample_initial(const RandomBlock& random, States next) const;
  void sample_transition(const RandomBlock& random, ConstStates previous, States next) const;
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const;

  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const;
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const;

  using Guide = LogGaussianGuide;
  bool guide(const Evidence& evidence, ConstStates previous,
             const Eigen::Ref<const Vector>& weights, Guide& guide) const;

  Vector scale() const { return scale_; }
  void set_scale(const Vector& scale);

  // For each component: 1, u', u, u'^2, u u', u^2, where u' = log x_t-1 and u = log x_t.
  Index num_statistics() const { return 6 * num_components_; }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> out) const;

  AffineMoments moments() const;
  void add_expected_statistics(const ExpectedMoves& moves, double weight,
                               std::span<double> s3) const;

  Parameters parameters() const;
  void set_parameter(const Parameter& parameter);
  // Least squares, with v = u - m and v' = u' - m:
  //   m           = mean of u, if the scale is free,
  //   persistence = sum v v' / sum v'^2, clamped to [-0.9999, 0.9999],
  //   noise^2     = mean of (v - persistence v')^2, at least 1e-12.
  // Each is the maximiser given the others, and together they are the joint maximiser, with two
  // exceptions. A persistence shared by components of different noise weighs them by 1 / noise^2,
  // using the current noise. And the exact maximiser of m adds persistence / (1 - persistence)
  // (mean u - mean u') to the mean of u. We omit this term: it depends only on the two ends of the
  // record, and near persistence 1 it would make m erratic.
  void maximise(std::span<const double> statistics, const Held& held = {});

 private:
  void learn_scale(std::span<const double> statistics);

  Index num_components_;
  SharedOrOwn persistence_;
  SharedOrOwn noise_;
  Vector scale_;
  Vector mean_;  // of log x: m
};

static_assert(BoundedTransition<LogGaussian> && ScaledPrior<LogGaussian> &&
              GuidedPrior<LogGaussian> && AffinePrior<LogGaussian>);

}  // namespace headwater
