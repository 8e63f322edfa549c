#include "headwater/models/gamma_prior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "headwater/core/bessel.hpp"
#include "headwater/error.hpp"
#include "headwater/models/gamma_draws.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/scale.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace {

constexpr double kSmallestPersistence = 1e-6;

// A number whose square is negligible. For smaller z, I_v(z) is the first term of its power series.
// Activations with a smaller sum carry no information on the parameters.
constexpr double kNegligible = 1e-150;

// A relative variance below this is rounding error.
constexpr double kNoVariance = 1e-12;

// What the bound allows for the rounding errors of the density.
constexpr double kDensityRounding = 1e-9;

SharedOrOwn gamma_persistence(Vector values, Index num_components) {
  return {"persistence", std::move(values), num_components, 0, 1};
}

// I_(a-1)(z) / I_a(z) = I_(a+1)(z) / I_a(z) + 2a / z. This form keeps all digits of a small shape
// a; a - 1 would round them away.
double ratio_to_lower_order(double shape, double z) {
  return bessel_i_ratio(shape, z) + 2 * shape / z;
}

// log(exp(-z) I_(shape-1)(z))
double log_scaled_bessel_of_shape(double shape, double z) {
  if (shape >= 1) return log_scaled_bessel_i(shape - 1, z);
  return log_scaled_bessel_i(shape, z) + std::log(ratio_to_lower_order(shape, z));
}

// The statistics of one component, as add_statistics() lays them out.
struct GammaSums {
  explicit GammaSums(const double* s)
      : n(s[0]),
        before(s[1]),
        after(s[2]),
        before_square(s[3]),
        after_square(s[4]),
        product(s[5]) {}
  bool has_activations() const { return n > 0 && before > kNegligible && after > kNegligible; }

  // Variances relative to the squared means.
  double variance() const {
    return n * (before_square / (before * before) + after_square / (after * after)) / 2 - 1;
  }
  double covariance() const { return n * product / (before * after) - 1; }

  double n, before, after, before_square, after_square, product;
};

}  // namespace

GammaPrior::GammaPrior(Index num_components, double shape, double persistence)
    : GammaPrior(num_components, Vector::Constant(1, shape), Vector::Constant(1, persistence)) {}

GammaPrior::GammaPrior(Index num_components, Vector shape, Vector persistence)
    : num_components_(num_components),
      shape_(detail::shapes(std::move(shape), num_components)),
      persistence_(gamma_persistence(std::move(persistence), num_components)),
      scale_(Vector::Ones(num_components)) {}

void GammaPrior::set_scale(const Vector& scale) {
  check_scale(name(), scale, num_components_);
  scale_ = scale;
}

GammaChain GammaPrior::chain(Index k) const {
  const double shape = shape_[k];
  const double persistence = persistence_[k];
  const double rate = shape / (1 - persistence) / scale_[k];
  return {shape, rate, persistence * rate};
}

void GammaPrior::sample_initial(const RandomBlock& random, States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < num_components_; ++k) {
      const double shape = shape_[k];
      next(i, k) = scale_[k] * gamma(generator, shape) / shape;
    }
  }
}

void GammaPrior::sample_transition(const RandomBlock& random, ConstStates previous,
                                   States next) const {
  States uniforms = uniform_numbers(random, next.rows(), kGammaMoveNumbers * num_components_);
  for (Index k = 0; k < num_components_; ++k) {
    move_gammas(chain(k), k, random, uniforms, previous, next);
  }
}

// The exponents r x, beta x' and z can be large and cancel, so they are combined as -r x - beta x'
// + z = -(sqrt(r x) - sqrt(beta x'))^2.
double GammaPrior::log_density(const GammaChain& c, double previous, double next) {
  const double x = detail::away_from_zero(next);
  const double root_after = std::sqrt(c.rate) * std::sqrt(x);
  const double root_before = std::sqrt(c.beta) * std::sqrt(previous);
  const double z = 2 * root_after * root_before;
  if (z < kNegligible) {
    return detail::log_gamma_density(x, c.shape, c.rate) - c.beta * previous;
  }
  const double difference = root_after - root_before;
  return std::log(c.rate) + (c.shape - 1) * (std::log(root_after) - std::log(root_before)) -
         difference * difference + log_scaled_bessel_of_shape(c.shape, z);
}

double GammaPrior::log_density_bound(const GammaChain& c, double next) {
  const double x = detail::away_from_zero(next);
  const double h = std::max(0.0, std::ceil(c.rate * x - c.shape));
  return detail::log_gamma_density(x, c.shape + h, c.rate) + kDensityRounding;
}

void GammaPrior::log_transition(ConstStates previous, ConstStates next,
                                Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    const GammaChain c = chain(k);
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += log_density(c, paired_row(previous, i)[k], paired_row(next, i)[k]);
    }
  }
}

void GammaPrior::log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    const GammaChain c = chain(k);
    for (Index i = 0; i < out.size(); ++i) out[i] += log_density_bound(c, paired_row(next, i)[k]);
  }
}

bool GammaPrior::guide(const Evidence& evidence, ConstStates previous,
                       const Eigen::Ref<const Vector>& weights, Guide& guide) const {
  thread_local std::vector<GammaChain> chains;
  chains.clear();
  for (Index k = 0; k < num_components_; ++k) chains.push_back(chain(k));
  return guide.look_at(chains, evidence, previous, weights);
}

void GammaPrior::add_statistics(ConstStates previous, ConstStates next,
                                const Eigen::Ref<const Vector>& weights,
                                std::span<double> s3) const {
  for (Index k = 0; k < num_components_; ++k) {
    double* s = &s3[6 * k];
    for (Index i = 0; i < weights.size(); ++i) {
      const double before = paired_row(previous, i)[k];
      const double after = paired_row(next, i)[k];
      s[0] += weights[i];
      s[1] += weights[i] * before;
      s[2] += weights[i] * after;
      s[3] += weights[i] * before * before;
      s[4] += weights[i] * after * after;
      s[5] += weights[i] * before * after;
    }
  }
}

AffineMoments GammaPrior::moments() const {
  AffineMoments moments{false, Vector(num_components_), Vector(num_components_),
                        Vector(num_components_), Vector(num_components_)};
  for (Index k = 0; k < num_components_; ++k) {
    const auto [shape, rate, beta] = chain(k);
    moments.intercept[k] = shape / rate;
    moments.slope[k] = beta / rate;
    moments.noise[k] = shape / (rate * rate);
    moments.noise_slope[k] = 2 * beta / (rate * rate);
  }
  return moments;
}

void GammaPrior::add_expected_statistics(const ExpectedMoves& moves, double weight,
                                         std::span<double> s3) const {
  for (Index k = 0; k < num_components_; ++k) {
    double* s = &s3[6 * k];
    s[0] += weight;
    s[1] += weight * moves.before[k];
    s[2] += weight * moves.after[k];
    s[3] += weight * moves.before_square[k];
    s[4] += weight * moves.after_square[k];
    s[5] += weight * moves.product[k];
  }
}

void GammaPrior::set_parameter(const Parameter& parameter) {
  if (parameter.name == "shape") {
    shape_ = detail::shapes(parameter.value.reshaped(), num_components_);
  } else if (parameter.name == "persistence") {
    persistence_ = gamma_persistence(parameter.value.reshaped(), num_components_);
  } else {
    throw UsageError(fmt::format(
        "prior 'gamma' has no parameter '{}'; it has shape and persistence", parameter.name));
  }
}

void GammaPrior::maximise(std::span<const double> s3, const Held& held) {
  if (!held.scale) learn_scale(s3);
  if (!held.holds("persistence")) learn_persistence(s3);
  if (!held.holds("shape")) learn_shape(s3);
}

void GammaPrior::learn_scale(std::span<const double> s3) {
  for (Index k = 0; k < num_components_; ++k) {
    const GammaSums s(&s3[6 * k]);
    if (s.has_activations()) scale_[k] = learned_scale(s.after / s.n);
  }
}

void GammaPrior::learn_persistence(std::span<const double> s3) {
  persistence_.update(num_components_, [&](Index first, Index last, double so_far) {
    double count = 0;
    double covariance = 0;
    double variance = 0;
    for (Index k = first; k < last; ++k) {
      const GammaSums s(&s3[6 * k]);
      if (!s.has_activations()) continue;
      covariance += s.n * s.covariance();
      variance += s.n * s.variance();
      count += s.n;
    }
    if (!(variance > kNoVariance * count)) return so_far;
    return std::clamp(covariance / variance, kSmallestPersistence, 1 - kSmallestPersistence);
  });
}

void GammaPrior::learn_shape(std::span<const double> s3) {
  shape_.update(num_components_, [&](Index first, Index last, double so_far) {
    double count = 0;
    double variance = 0;
    for (Index k = first; k < last; ++k) {
      const GammaSums s(&s3[6 * k]);
      if (!s.has_activations()) continue;
      count += s.n;
      variance += s.n * s.variance();
    }
    if (!(count > 0)) return so_far;
    return 1 / std::clamp(variance / count, 1 / detail::kLargestShape, 1 / detail::kSmallestShape);
  });
}

}  // namespace headwater
