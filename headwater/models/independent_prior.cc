#include "headwater/models/independent_prior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "headwater/core/digamma.hpp"
#include "headwater/core/special.hpp"
#include "headwater/error.hpp"
#include "headwater/models/scale.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace detail {

SharedOrOwn shapes(Vector values, Index num_components) {
  return {"shape",        std::move(values),       num_components,
          kSmallestShape, kLargestShapeOfAnyStart, SharedOrOwn::Ends::kInside};
}

double away_from_zero(double x) { return std::max(x, std::numeric_limits<double>::min()); }

// rate^shape x^(shape - 1) exp(-rate x) / Γ(shape), which is rate times the Poisson probability of
// shape - 1 at mean rate x. The terms cancel only if shape - 1 and rate x are of similar size.
double log_gamma_density(double x, double shape, double rate) {
  if (shape >= 1 && rate * x >= 1 && rate * x <= 1e3 * shape) {
    return std::log(rate) + log_poisson_probability(shape - 1, rate * x);
  }
  return shape * std::log(rate) + (shape - 1) * std::log(x) - rate * x - log_gamma(shape);
}

}  // namespace detail

namespace {

// Solves log a - digamma(a) = gap for the shape a by Newton's method in log a, starting as in
// [Minka2002]. The left side decreases from infinity to 0.
double solve_shape(double gap) {
  if (!(gap > 0)) return detail::kLargestShape;
  double shape = (3 - gap + std::sqrt((gap - 3) * (gap - 3) + 24 * gap)) / (12 * gap);
  shape = std::clamp(shape, detail::kSmallestShape, detail::kLargestShape);
  for (int i = 0; i < 20; ++i) {
    const double excess = std::log(shape) - digamma(shape) - gap;
    const double step = excess / (shape * trigamma(shape) - 1);
    shape = std::clamp(shape * std::exp(step), detail::kSmallestShape, detail::kLargestShape);
    if (std::abs(step) < 1e-12) break;
  }
  return shape;
}

}  // namespace

IndependentPrior::IndependentPrior(Index num_components, double shape)
    : IndependentPrior(num_components, Vector::Constant(1, shape)) {}

IndependentPrior::IndependentPrior(Index num_components, Vector shape)
    : num_components_(num_components),
      shape_(detail::shapes(std::move(shape), num_components)),
      scale_(Vector::Ones(num_components)) {}

void IndependentPrior::set_scale(const Vector& scale) {
  check_scale(name(), scale, num_components_);
  scale_ = scale;
}

void IndependentPrior::sample_initial(const RandomBlock& random, States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < num_components_; ++k) {
      const double shape = shape_[k];
      next(i, k) = scale_[k] * gamma(generator, shape) / shape;
    }
  }
}

void IndependentPrior::sample_transition(const RandomBlock& random, ConstStates /*previous*/,
                                         States next) const {
  sample_initial(random, next);
}

void IndependentPrior::log_transition(ConstStates /*previous*/, ConstStates next,
                                      Eigen::Ref<Vector> out) const {
  log_transition_bound(next, out);
}

void IndependentPrior::log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    const double shape = shape_[k];
    for (Index i = 0; i < out.size(); ++i) {
      const double x = detail::away_from_zero(paired_row(next, i)[k]);
      out[i] += detail::log_gamma_density(x, shape, shape / scale_[k]);
    }
  }
}

bool IndependentPrior::guide(const Evidence& evidence, ConstStates previous,
                             const Eigen::Ref<const Vector>& weights, Guide& guide) const {
  thread_local std::vector<GammaChain> chains;
  chains.clear();
  for (Index k = 0; k < num_components_; ++k) {
    chains.push_back({shape_[k], shape_[k] / scale_[k], 0});
  }
  return guide.look_at(chains, evidence, previous, weights);
}

void IndependentPrior::add_statistics(ConstStates /*previous*/, ConstStates next,
                                      const Eigen::Ref<const Vector>& weights,
                                      std::span<double> s3) const {
  for (Index k = 0; k < num_components_; ++k) {
    double* s = &s3[3 * k];
    for (Index i = 0; i < weights.size(); ++i) {
      const double x = detail::away_from_zero(paired_row(next, i)[k]);
      s[0] += weights[i];
      s[1] += weights[i] * x;
      s[2] += weights[i] * std::log(x);
    }
  }
}

AffineMoments IndependentPrior::moments() const {
  AffineMoments moments{false, scale_, Vector::Zero(num_components_), Vector(num_components_),
                        Vector::Zero(num_components_)};
  for (Index k = 0; k < num_components_; ++k) {
    moments.noise[k] = scale_[k] * scale_[k] / shape_[k];
  }
  return moments;
}

void IndependentPrior::add_expected_statistics(const ExpectedMoves& moves, double weight,
                                               std::span<double> s3) const {
  for (Index k = 0; k < num_components_; ++k) {
    double* s = &s3[3 * k];
    s[0] += weight;
    s[1] += weight * moves.after[k];
    s[2] += weight * moves.log_after[k];
  }
}

void IndependentPrior::set_parameter(const Parameter& parameter) {
  if (parameter.name != "shape") {
    throw UsageError(
        fmt::format("prior 'independent' has no parameter '{}'; it has shape", parameter.name));
  }
  shape_ = detail::shapes(parameter.value.reshaped(), num_components_);
}

void IndependentPrior::maximise(std::span<const double> s3, const Held& held) {
  for (Index k = 0; k < num_components_ && !held.scale; ++k) {
    const double* s = &s3[3 * k];
    if (s[0] > 0 && s[1] > 0) scale_[k] = learned_scale(s[1] / s[0]);
  }
  if (held.holds("shape")) return;
  shape_.update(num_components_, [&](Index first, Index last, double so_far) {
    double count = 0;
    double gap = 0;  // log(mean x) - mean log x
    for (Index k = first; k < last; ++k) {
      const double* s = &s3[3 * k];
      if (!(s[0] > 0 && s[1] > 0)) continue;
      count += s[0];
      gap += s[0] * std::log(s[1] / s[0]) - s[2];
    }
    return count > 0 ? solve_shape(gap / count) : so_far;
  });
}

}  // namespace headwater
