#include "headwater/models/log_gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "headwater/core/error.hpp"
#include "headwater/random/distributions.hpp"

namespace headwater {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestPersistence = 0.9999;
constexpr double kSmallestNoise = 1e-6;
const double kLogRootTwoPi = 0.5 * std::log(2 * std::numbers::pi);

SharedOrOwn persistence_of(Vector values, Index num_components) {
  return {"persistence", std::move(values), num_components, -1, 1};
}

SharedOrOwn noise_of(Vector values, Index num_components) {
  return {"noise", std::move(values), num_components, 0, kInfinity};
}

}  // namespace

LogGaussian::LogGaussian(Index num_components, double persistence, double noise)
    : LogGaussian(num_components, Vector::Constant(1, persistence), Vector::Constant(1, noise)) {}

LogGaussian::LogGaussian(Index num_components, Vector persistence, Vector noise)
    : num_components_(num_components),
      persistence_(persistence_of(std::move(persistence), num_components)),
      noise_(noise_of(std::move(noise), num_components)) {}

void LogGaussian::sample_initial(const RandomBlock& random, States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < num_components_; ++k) {
      const double spread = noise_[k] / std::sqrt(1 - persistence_[k] * persistence_[k]);
      next(i, k) = spread * normal(generator);
    }
  }
}

void LogGaussian::sample_transition(const RandomBlock& random, ConstStates previous,
                                    States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < num_components_; ++k) {
      next(i, k) = persistence_[k] * previous(i, k) + noise_[k] * normal(generator);
    }
  }
}

void LogGaussian::activations(ConstStates states, Eigen::Ref<Matrix> x) const {
  x = states.array().exp();
}

void LogGaussian::log_transition(ConstStates previous, ConstStates next,
                                 Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    const double log_scale = std::log(noise_[k]) + kLogRootTwoPi;
    for (Index i = 0; i < out.size(); ++i) {
      const double error =
          (paired_row(next, i)[k] - persistence_[k] * paired_row(previous, i)[k]) / noise_[k];
      out[i] -= 0.5 * error * error + log_scale;
    }
  }
}

void LogGaussian::log_transition_bound(ConstStates /*next*/, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) out.array() -= std::log(noise_[k]) + kLogRootTwoPi;
}

void LogGaussian::add_statistics(ConstStates previous, ConstStates next,
                                 const Eigen::Ref<const Vector>& weights,
                                 std::span<double> out) const {
  for (Index k = 0; k < num_components_; ++k) {
    double* sums = &out[4 * k];
    for (Index i = 0; i < weights.size(); ++i) {
      const double before = paired_row(previous, i)[k];
      const double after = paired_row(next, i)[k];
      sums[0] += weights[i];
      sums[1] += weights[i] * before * before;
      sums[2] += weights[i] * before * after;
      sums[3] += weights[i] * after * after;
    }
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

void LogGaussian::maximise(std::span<const double> statistics) {
  persistence_.update(statistics, 4, [](const Vector& s, double before) {
    return s[1] > 0 ? std::clamp(s[2] / s[1], -kLargestPersistence, kLargestPersistence) : before;
  });
  std::vector<double> residuals;  // for each component: 1, (u - persistence u')^2
  for (Index k = 0; k < num_components_; ++k) {
    const double* s = &statistics[4 * k];
    const double phi = persistence_[k];
    residuals.push_back(s[0]);
    residuals.push_back(s[3] - 2 * phi * s[2] + phi * phi * s[1]);
  }
  noise_.update(residuals, 2, [](const Vector& r, double before) {
    if (!(r[0] > 0)) return before;
    return std::max(std::sqrt(std::max(r[1] / r[0], 0.0)), kSmallestNoise);
  });
}

}  // namespace headwater
