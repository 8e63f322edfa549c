#include "headwater/models/log_gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "headwater/error.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/models/normal_block.hpp"
#include "headwater/models/scale.hpp"

namespace headwater {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestPersistence = 0.9999;
constexpr double kSmallestNoise = 1e-6;
constexpr double kLargestNoise = 100;  // seven deviations of log x, and x is beyond any number
const double kLogRootTwoPi = 0.5 * std::log(2 * std::numbers::pi);

SharedOrOwn persistence_of(Vector values, Index num_components) {
  return {"persistence", std::move(values), num_components, -1, 1};
}

SharedOrOwn noise_of(Vector values, Index num_components) {
  return {"noise",        std::move(values), num_components,
          kSmallestNoise, kLargestNoise,     SharedOrOwn::Ends::kInside};
}

// The statistics of one component, with u' and u centred at a mean.
struct Sums {
  Sums(const double* s, double mean)
      : n(s[0]),
        before(s[3] + mean * (n * mean - 2 * s[1])),
        product(s[4] + mean * (n * mean - s[1] - s[2])),
        after(s[5] + mean * (n * mean - 2 * s[2])) {}
  double residual(double persistence) const {
    return std::max(0.0, after - 2 * persistence * product + persistence * persistence * before);
  }
  double n, before, product, after;
};

}  // namespace

LogGaussian::LogGaussian(Index num_components, double persistence, double noise)
    : LogGaussian(num_components, Vector::Constant(1, persistence), Vector::Constant(1, noise)) {}

LogGaussian::LogGaussian(Index num_components, Vector persistence, Vector noise)
    : num_components_(num_components),
      persistence_(persistence_of(std::move(persistence), num_components)),
      noise_(noise_of(std::move(noise), num_components)),
      scale_(Vector::Ones(num_components)),
      mean_(Vector::Zero(num_components)) {}

void LogGaussian::set_scale(const Vector& scale) {
  check_scale(name(), scale, num_components_);
  scale_ = scale;
  mean_ = scale.array().log();
}

void LogGaussian::sample_initial(const RandomBlock& random, States next) const {
  const auto normals = normal_block(random, next.rows(), num_components_);
  for (Index k = 0; k < num_components_; ++k) {
    const double spread = noise_[k] / std::sqrt(1 - persistence_[k] * persistence_[k]);
    next.col(k) = mean_[k] + spread * normals.col(k).array();
  }
}

void LogGaussian::sample_transition(const RandomBlock& random, ConstStates previous,
                                    States next) const {
  const auto normals = normal_block(random, next.rows(), num_components_);
  for (Index k = 0; k < num_components_; ++k) {
    next.col(k) = mean_[k] + persistence_[k] * (previous.col(k).array() - mean_[k]) +
                  noise_[k] * normals.col(k).array();
  }
}

void LogGaussian::activations(ConstStates states, Eigen::Ref<Matrix> x) const {
  for (Index k = 0; k < num_components_; ++k) {
    vector_exp(as_span(states.col(k)), as_span(x.col(k)));
  }
}

void LogGaussian::log_transition(ConstStates previous, ConstStates next,
                                 Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    const double log_scale = std::log(noise_[k]) + kLogRootTwoPi;
    for (Index i = 0; i < out.size(); ++i) {
      const double before = paired_row(previous, i)[k] - mean_[k];
      const double after = paired_row(next, i)[k] - mean_[k];
      const double error = (after - persistence_[k] * before) / noise_[k];
      out[i] -= 0.5 * error * error + log_scale;
    }
  }
}

void LogGaussian::log_transition_bound(ConstStates /*next*/, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) out.array() -= std::log(noise_[k]) + kLogRootTwoPi;
}

bool LogGaussian::guide(const Evidence& evidence, ConstStates previous,
                        const Eigen::Ref<const Vector>& weights, Guide& guide) const {
  thread_local LogGaussianGuide::Chain chain;
  chain.mean = mean_;
  chain.persistence.resize(num_components_);
  chain.noise.resize(num_components_);
  for (Index k = 0; k < num_components_; ++k) {
    chain.persistence[k] = persistence_[k];
    chain.noise[k] = noise_[k];
  }
  guide.look_at(chain, evidence, previous, weights);
  return true;
}

void LogGaussian::add_statistics(ConstStates previous, ConstStates next,
                                 const Eigen::Ref<const Vector>& weights,
                                 std::span<double> out) const {
  for (Index k = 0; k < num_components_; ++k) {
    double* sums = &out[6 * k];
    for (Index i = 0; i < weights.size(); ++i) {
      const double before = paired_row(previous, i)[k];
      const double after = paired_row(next, i)[k];
      sums[0] += weights[i];
      sums[1] += weights[i] * before;
      sums[2] += weights[i] * after;
      sums[3] += weights[i] * before * before;
      sums[4] += weights[i] * before * after;
      sums[5] += weights[i] * after * after;
    }
  }
}

AffineMoments LogGaussian::moments() const {
  AffineMoments moments{true, Vector(num_components_), Vector(num_components_),
                        Vector(num_components_), Vector::Zero(num_components_)};
  for (Index k = 0; k < num_components_; ++k) {
    moments.intercept[k] = (1 - persistence_[k]) * mean_[k];
    moments.slope[k] = persistence_[k];
    moments.noise[k] = noise_[k] * noise_[k];
  }
  return moments;
}

void LogGaussian::add_expected_statistics(const ExpectedMoves& moves, double weight,
                                          std::span<double> s3) const {
  for (Index k = 0; k < num_components_; ++k) {
    double* sums = &s3[6 * k];
    sums[0] += weight;
    sums[1] += weight * moves.before[k];
    sums[2] += weight * moves.after[k];
    sums[3] += weight * moves.before_square[k];
    sums[4] += weight * moves.product[k];
    sums[5] += weight * moves.after_square[k];
  }
}

Parameters LogGaussian::parameters() const {
  return {{"persistence", persistence_.values()}, {"noise", noise_.values()}};
}

void LogGaussian::set_parameter(const Parameter& parameter) {
  if (parameter.name == "persistence") {
    persistence_ = persistence_of(parameter.value.reshaped(), num_components_);
  } else if (parameter.name == "noise") {
    noise_ = noise_of(parameter.value.reshaped(), num_components_);
  } else {
    throw UsageError(
        fmt::format("prior 'log-gaussian' has no parameter '{}'; it has persistence and noise",
                    parameter.name));
  }
}

void LogGaussian::learn_scale(std::span<const double> statistics) {
  Vector scale = scale_;
  for (Index k = 0; k < num_components_; ++k) {
    const double* s = &statistics[6 * k];
    if (s[0] > 0) scale[k] = learned_scale(std::exp(s[2] / s[0]));
  }
  set_scale(scale);
}

void LogGaussian::maximise(std::span<const double> statistics, const Held& held) {
  if (!held.scale) learn_scale(statistics);
  std::vector<Sums> sums;
  for (Index k = 0; k < num_components_; ++k) sums.emplace_back(&statistics[6 * k], mean_[k]);
  if (!held.holds("persistence")) {
    persistence_.update(num_components_, [&](Index first, Index last, double so_far) {
      double product = 0;
      double before = 0;
      for (Index k = first; k < last; ++k) {
        const double weight = 1 / (noise_[k] * noise_[k]);
        product += weight * sums[k].product;
        before += weight * sums[k].before;
      }
      if (!(before > 0)) return so_far;
      return std::clamp(product / before, -kLargestPersistence, kLargestPersistence);
    });
  }
  if (!held.holds("noise")) {
    noise_.update(num_components_, [&](Index first, Index last, double so_far) {
      double n = 0;
      double residual = 0;
      for (Index k = first; k < last; ++k) {
        n += sums[k].n;
        residual += sums[k].residual(persistence_[k]);
      }
      return n > 0 ? std::clamp(std::sqrt(residual / n), kSmallestNoise, kLargestNoise) : so_far;
    });
  }
}

}  // namespace headwater
