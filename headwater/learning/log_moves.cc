#include "headwater/learning/log_moves.hpp"

#include <cmath>
#include <numbers>

#include "headwater/core/bessel.hpp"

namespace headwater {

namespace {

const double kLogTwoPi = std::log(2 * std::numbers::pi);
// Below this a move does not depend on the state before.
constexpr double kNoMemory = 1e-100;

// log I_(shape-1)(z), and its derivatives in log z. The first is D = z I_shape / I_(shape-1) +
// shape - 1, and Bessel's equation gives the others: D' = z^2 + (shape - 1)^2 - D^2.
struct BesselTerms {
  BesselTerms(double shape, double z) {
    // I_(shape-1) / I_shape: see GammaPrior.
    const double ratio = bessel_i_ratio(shape, z) + 2 * shape / z;
    const double order = shape - 1;
    value = shape >= 1 ? log_scaled_bessel_i(order, z) + z
                       : log_scaled_bessel_i(shape, z) + z + std::log(ratio);
    d1 = z / ratio + order;
    d2 = z * z + order * order - d1 * d1;
    d3 = 2 * z * z - 2 * d1 * d2;
  }
  double value, d1, d2, d3;
};

// Of Gamma(shape, rate), for u = log x.
LogStateTerms gamma_terms(double shape, double rate, double u) {
  const double mean = rate * std::exp(u);
  return {shape * (std::log(rate) + u) - std::lgamma(shape) - mean, shape - mean, -mean, -mean};
}

}  // namespace

LogMoves::LogMoves(const AffineMoments& moments)
    : is_logarithmic_(moments.is_logarithmic),
      first_(moments.slope.size()),
      intercept_(moments.intercept),
      slope_(moments.slope),
      noise_(moments.noise),
      mean_(moments.mean()),
      variance_(moments.variance()) {
  if (is_logarithmic_) return;
  rate_ = intercept_.cwiseQuotient(noise_);
  shape_ = intercept_.cwiseProduct(rate_);
  beta_ = slope_.cwiseProduct(rate_);
  first_ = rate_ - beta_;
  // Of a log-normal law with the same mean and variance.
  variance_ = (1 + variance_.array() / mean_.array().square()).log();
  mean_ = mean_.array().log() - variance_.array() / 2;
}

LogStateTerms LogMoves::first(Index k, double u) const {
  if (!is_logarithmic_) return gamma_terms(shape_[k], first_[k], u);
  const double away = u - mean_[k];
  const double precision = 1 / variance_[k];
  return {-(away * away * precision + std::log(variance_[k]) + kLogTwoPi) / 2, -away * precision,
          -precision, 0};
}

LogMoveTerms LogMoves::move(Index k, double before, double after) const {
  if (!is_logarithmic_) return gamma_move(k, before, after);
  const double error = after - intercept_[k] - slope_[k] * before;
  const double precision = 1 / noise_[k];
  const double s = slope_[k];
  return {-(error * error * precision + std::log(noise_[k]) + kLogTwoPi) / 2,
          s * error * precision,
          -error * precision,
          -s * s * precision,
          s * precision,
          -precision,
          0,
          0,
          0,
          0};
}

// With x = exp(u): log f(x | x') + u, where f is that of GammaPrior and
// log z = (u + u') / 2 + log(2 sqrt(beta rate)).
LogMoveTerms LogMoves::gamma_move(Index k, double before, double after) const {
  const double shape = shape_[k];
  const double rate = rate_[k];
  const double from = beta_[k] * std::exp(before);
  const double to = rate * std::exp(after);
  const double z = 2 * std::sqrt(from) * std::sqrt(to);
  if (!(z > kNoMemory)) {
    const LogStateTerms terms = gamma_terms(shape, rate, after);
    return {terms.value - from, -from, terms.d1, -from, 0, terms.d2, -from, 0, 0, terms.d3};
  }
  const BesselTerms bessel(shape, z);
  const double half_log = (std::log(to) - std::log(from)) / 2;
  const double second = bessel.d2 / 4;
  const double third = bessel.d3 / 8;
  return {std::log(rate) + after + (shape - 1) * half_log - to - from + bessel.value,
          -(shape - 1) / 2 - from + bessel.d1 / 2,
          (shape + 1) / 2 - to + bessel.d1 / 2,
          second - from,
          second,
          second - to,
          third - from,
          third,
          third,
          third - to};
}

}  // namespace headwater
