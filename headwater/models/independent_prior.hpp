#pragma once

#include <span>
#include <string>

#include "headwater/models/concepts.hpp"
#include "headwater/models/guides/gamma_guide.hpp"
#include "headwater/models/shared_or_own.hpp"

namespace headwater {

// Activations without memory: each an independent gamma variable whose mean is the component's
// scale, 1 unless set, of the given shape > 0, either shared by all components or one for each.
// This is the prior of classical Bayesian nonnegative matrix factorisation [Cemgil2009], and the
// limit of GammaPrior for persistence 0. The state of a component is its activation.
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

  // The previous state has no say, and so the density is its own bound.
  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const;
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const;

  using Guide = GammaGuide;
  bool guide(const Evidence& evidence, ConstStates previous,
             const Eigen::Ref<const Vector>& weights, Guide& guide) const;

  Vector scale() const { return scale_; }
  void set_scale(const Vector& scale);

  // Of each component: n, sum of x, sum of log x.
  Index num_statistics() const { return 3 * num_components_; }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> s3) const;

  AffineMoments moments() const;
  void add_expected_statistics(const ExpectedMoves& moves, double weight,
                               std::span<double> s3) const;

  Parameters parameters() const { return {{"shape", shape_.values()}}; }
  void set_parameter(const Parameter& parameter);
  // The scale, if it is free, and the shape a that together maximise the likelihood:
  //   scale = mean of x,   log a - digamma(a) = log(mean of x) - mean of log x,
  // a kept inside [1e-3, 1e3]. The best scale does not depend on the shape. A scale that is held is
  // the basis's affair, and the shape is the same: as in [LiuRubinWu1998], the mean is a parameter
  // then only to be thrown away. A shared shape takes the average of the right sides; without a
  // single activation all stays as it is.
  void maximise(std::span<const double> s3, const Held& held = {});

 private:
  Index num_components_;
  SharedOrOwn shape_;
  Vector scale_;
};

static_assert(BoundedTransition<IndependentPrior> && ScaledPrior<IndependentPrior> &&
              GuidedPrior<IndependentPrior> && AffinePrior<IndependentPrior>);

// What the two gamma priors share.
namespace detail {

// The range inside which a shape is learned.
constexpr double kSmallestShape = 1e-3;
constexpr double kLargestShape = 1e3;

// Throws UsageError unless there are 1 or K shapes, all positive and finite.
SharedOrOwn shapes(Vector values, Index num_components);

// The activation as the densities see it. A gamma variable of a small shape may be less than the
// smallest double and come out as 0, where its density is infinite, or is 0; the smallest normal
// number stands for whatever is below it. How the density there depends on the previous state is
// kept: it goes to a limit as x goes to 0, but for a factor that is a function of x alone.
double away_from_zero(double x);

// The log density of a gamma variable of this shape and rate at x > 0, also where both are large.
double log_gamma_density(double x, double shape, double rate);

}  // namespace detail

}  // namespace headwater
