#pragma once

#include <span>
#include <string>

#include "headwater/models/concepts.hpp"
#include "headwater/models/shared_or_own.hpp"

namespace headwater {

// Positive activations whose logarithms are autoregressive:
//   log x_t = persistence log x_t-1 + noise e_t,   e_t standard normal,
// started in the stationary law, log x ~ N(0, noise^2 / (1 - persistence^2)). The state is log x.
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

  // For each component: 1, u'^2, u u', u^2, where u' = log x_t-1 and u = log x_t.
  Index num_statistics() const { return 4 * num_components_; }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> out) const;

  Parameters parameters() const;
  void set_parameter(const Parameter& parameter);
  // Least squares: persistence = sum u u' / sum u'^2, noise^2 = mean (u - persistence u')^2.
  void maximise(std::span<const double> statistics);

 private:
  Index num_components_;
  SharedOrOwn persistence_;
  SharedOrOwn noise_;
};

static_assert(BoundedTransition<LogGaussian> && LearnablePrior<LogGaussian>);

}  // namespace headwater
