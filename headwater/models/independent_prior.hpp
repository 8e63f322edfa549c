#pragma once

#include <span>
#include <string>

#include "headwater/concepts.hpp"
#include "headwater/models/guides/gamma_guide.hpp"
#include "headwater/models/shared_or_own.hpp"

namespace headwater {

// Activations without memory: independent gamma variables with the given shape > 0, shared by all
// components or separate for each. The mean is the component's scale, 1 by default. This is the
// prior of classical Bayesian nonnegative matrix factorisation [Cemgil2009], and the limit of
// GammaPrior for persistence 0. The state of a component is its activation.
class IndependentPrior {
 public:
  IndependentPrior(Index num_components, double shape);
  IndependentPrior(Index num_components, Vector shape);

  std::string name() const { return "independent"; }
  Index num_components() const { return num_components_; }
  Index state_size() const { return num_components_; }

  void sample_initial(const RandomBlock& random, States next) const;
  void sample_transition(const RandomBlock& random, ConstStates previous, States next) const;
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const { x = states; }

  // The density does not depend on the previous state, so it is its own bound.
  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const;
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const;

  using Guide = GammaGuide;
  bool guide(const Evidence& evidence, ConstStates previous,
             const Eigen::Ref<const Vector>& weights, Guide& guide) const;

  Vector scale() const { return scale_; }
  void set_scale(const Vector& scale);

  // For each component: n, sum of x, sum of log x.
  Index num_statistics() const { return 3 * num_components_; }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> s3) const;

  AffineMoments moments() const;
  void add_expected_statistics(const ExpectedMoves& moves, double weight,
                               std::span<double> s3) const;

  Parameters parameters() const { return {{"shape", shape_.values()}}; }
  void set_parameter(const Parameter& parameter);
  // The shape a and, if it is free, the scale that maximise the likelihood:
  //   scale = mean of x,   log a - digamma(a) = log(mean of x) - mean of log x,
  // with a clamped to [1e-3, 1e3]. The best scale does not depend on the shape. If the scale is
  // held, the mean is still estimated for the shape's equation and then discarded, as an auxiliary
  // parameter in the sense of [LiuRubinWu1998]; the basis absorbs the scale. A shared shape uses
  // the average of the right sides. If there is no activation, nothing changes.
  void maximise(std::span<const double> s3, const Held& held = {});

 private:
  Index num_components_;
  SharedOrOwn shape_;
  Vector scale_;
};

static_assert(BoundedTransition<IndependentPrior> && ScaledPrior<IndependentPrior> &&
              GuidedPrior<IndependentPrior> && AffinePrior<IndependentPrior>);

// Shared by the two gamma priors.
namespace detail {

// The range in which a shape is learned.
constexpr double kSmallestShape = 1e-3;
constexpr double kLargestShape = 1e3;
constexpr double kLargestShapeOfAnyStart = 1e6;  // beyond it, rounding is all that is left of x - 1

// Throws UsageError unless there are 1 or K shapes, all positive and finite.
SharedOrOwn shapes(Vector values, Index num_components);

// The activation as used in densities. A gamma variable of small shape may be below the smallest
// double and be drawn as 0, where its density is 0 or infinite; we use the smallest normal number
// instead. This keeps the dependence of the density on the previous state: as x goes to 0 it
// converges, up to a factor that depends on x alone.
double away_from_zero(double x);

// The log-density at x > 0 of a gamma variable with this shape and rate, accurate even if both are
// large.
double log_gamma_density(double x, double shape, double rate);

}  // namespace detail

}  // namespace headwater
