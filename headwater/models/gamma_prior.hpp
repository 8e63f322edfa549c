#pragma once

#include <span>
#include <string>

#include "headwater/models/concepts.hpp"

namespace headwater {

// Autoregressive gamma activations, ARG(1), each component a chain of its own
// [GourierouxJasiak2006]:
//
//   h ~ Poisson(beta x'),  x ~ Gamma(shape + h, rate r),
//   r = shape / (1 - persistence),  beta = persistence r.
//
// The chain is reversible; its stationary law, in which it starts, is Gamma(shape, rate shape), of
// mean 1; persistence is the correlation of neighbours. Both parameters, shape > 0 and persistence
// in (0, 1), are either shared by all components or one for each. The state of a component is its
// activation.
class GammaPrior {
 public:
  GammaPrior(Index num_components, double shape, double persistence);
  GammaPrior(Index num_components, Vector shape, Vector persistence);

  std::string name() const { return "gamma"; }
  Index num_components() const { return num_components_; }
  Index state_size() const { return num_components_; }

  void sample_initial(const RandomBlock& random, States next) const;
  void sample_transition(const RandomBlock& random, ConstStates previous, States next) const;
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const { x = states; }

  // f(x | x') = r (r x / (beta x'))^((shape - 1)/2) exp(-r x - beta x') I_(shape-1)(z),
  // z = 2 sqrt(beta r x x').
  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const;
  // f is a mixture over h of gamma densities, none of which at x exceeds the one with
  // h = max(0, ceil(r x - shape)).
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const;

  // Of each component: n, and the sums of E[h | x', x], x', x and x^2.
  Index num_statistics() const { return 5 * num_components_; }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> s3) const;

  Parameters parameters() const { return {{"shape", shape_}, {"persistence", persistence_}}; }
  void set_parameter(const Parameter& parameter);
  // persistence = beta / r at the free beta and r that maximise the expected log-density of
  // (h, x) given x' at the present shape:
  //   beta = sum h / sum x',  r = (n shape + sum h) / sum x,
  // kept inside [1e-6, 1 - 1e-6]. What beta and r say on the scale of x is thrown away, for the
  // scale is the basis's affair [LiuRubinWu1998].
  //
  // shape = mean^2 / variance of x, kept inside [1e-3, 1e3]: the moments of the stationary law. It
  // is consistent, but not the maximiser, which has no closed form and would need the expectation
  // of digamma(shape + h) at shapes that are not known when the statistics are added up.
  //
  // A shared parameter takes the average over components: 1 / shape weighted by n, persistence by
  // n shape + sum h. Neither sees the components' scales. Without any activation above 0 a
  // parameter stays as it is.
  void maximise(std::span<const double> s3);

 private:
  // The chain of one component.
  struct Chain {
    double shape;
    double rate;  // r
    double beta;
  };
  static double log_density(const Chain& chain, double previous, double next);
  static double log_density_bound(const Chain& chain, double next);
  static double expected_count(const Chain& chain, double previous, double next);  // E[h | x', x]

  Chain chain(Index k) const;

  Index num_components_;
  Vector shape_;  // 1 or K entries
  Vector persistence_;
};

static_assert(BoundedTransition<GammaPrior> && LearnablePrior<GammaPrior>);

}  // namespace headwater
