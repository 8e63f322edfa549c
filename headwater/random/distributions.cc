#include "headwater/random.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "headwater/core/special.hpp"
#include "headwater/error.hpp"

// Every draw is a separate statement, because C++ does not fix the order in which the operands of
// an expression are evaluated.

namespace headwater {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Below this mean, rejection is not valid, and summing the few terms is faster.
constexpr double kPoissonRejectionFrom = 10;

// [MarsagliaTsang2000], for shape >= 1: with d = shape - 1/3, t = x / sqrt(9 d), x normal and v =
// (1 + t)^3, d v is accepted if log u < x^2/2 + d (1 - v + log v). The bracket equals 3 (log(1 + t)
// - t) - t^2 (3 + t), which does not cancel if d is large.
double gamma_by_rejection(Generator& generator, double shape) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(generator);
    const double u = generator.uniform();
    const double t = c * x;
    if (t <= -1) continue;
    const double v = (1 + t) * (1 + t) * (1 + t);
    const double x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2) return d * v;
    const double bracket = 3 * (std::log1p(t) - t) - t * t * (3 + t);
    if (std::log(u) < 0.5 * x2 + d * bracket) return d * v;
  }
}

// Algorithm PTRS of [Hormann1993], for mean >= 10, in the paper's notation (s is its us).
double poisson_by_rejection(Generator& generator, double mean) {
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = generator.uniform() - 0.5;
    const double v = generator.uniform();
    const double s = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / s + b) * u + mean + 0.43);
    if (s >= 0.07 && v <= v_r) return k;
    if (k < 0 || (s < 0.013 && v > s)) continue;
    const double log_height = std::log(v * inverse_alpha / (a / (s * s) + b));
    if (log_height <= log_poisson_probability(k, mean)) return k;
  }
}

double sum_of_weights(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) {
      throw UsageError(fmt::format("categorical: a probability is {}; expected >= 0", weight));
    }
    sum += weight;
  }
  if (!(sum > 0 && sum < kInfinity)) {
    throw UsageError(fmt::format(
        "categorical: the {} probabilities sum to {}; expected a positive finite number",
        weights.size(), sum));
  }
  return sum;
}

}  // namespace

double exponential(Generator& generator) { return -std::log(generator.uniform()); }

// [BoxMuller1958]. The second number of the pair is discarded: to keep it would need state between
// calls.
double normal(Generator& generator) {
  const double radius = std::sqrt(2 * exponential(generator));
  const double angle = 2 * std::numbers::pi * generator.uniform();
  return radius * std::cos(angle);
}

double gamma(Generator& generator, double shape) {
  if (!(shape > 0 && shape < kInfinity)) {
    throw UsageError(fmt::format("gamma: the shape is {}; expected a positive number", shape));
  }
  if (shape >= 1) return gamma_by_rejection(generator, shape);
  // gamma(shape) = gamma(shape + 1) u^(1/shape). The power is computed as exp(log(u) / shape):
  // log(u) is never 0, so a tiny shape gives exp(-infinity) = 0 and never 0 times infinity.
  const double larger = gamma_by_rejection(generator, shape + 1);
  const double log_power = -exponential(generator) / shape;
  return larger * std::exp(log_power);
}

double poisson(Generator& generator, double mean) {
  if (!(mean >= 0 && mean < kInfinity)) {
    throw UsageError(fmt::format("poisson: the mean is {}; expected a number >= 0", mean));
  }
  if (mean >= kPoissonRejectionFrom) return poisson_by_rejection(generator, mean);
  return poisson_quantile(generator.uniform(), mean);
}

std::size_t categorical(Generator& generator, std::span<const double> probabilities) {
  return categorical_quantile(generator.uniform(), probabilities);
}

// With Stirling's formula for n = k + 1, -mean + k log(mean) - log k! becomes
//   1/2 log(n / 2 pi) - log(mean) - mean ((1 + d) log(1 + d) - d) - stirling_remainder(n)
// with d = (n - mean) / mean. At mean 1e12 the terms of the first form reach 3e13, and their
// difference would have two correct digits. The terms of the second form stay near sqrt(mean).
double log_poisson_probability(double k, double mean) {
  const double n = k + 1;
  const double d = (n - mean) / mean;
  const double deviance = mean * ((1 + d) * std::log1p(d) - d);
  return std::log(std::sqrt(n / (2 * std::numbers::pi)) / mean) - deviance - stirling_remainder(n);
}

double poisson_quantile(double uniform, double mean) {
  assert(mean >= 0 && mean <= 700);
  double k = 0;
  double term = std::exp(-mean);
  double cumulated = term;
  while (uniform > cumulated) {
    k += 1;
    term *= mean / k;
    const double sum = cumulated + term;
    // The terms are too small to change the sum, which rounding keeps below `uniform`.
    if (sum == cumulated) break;
    cumulated = sum;
  }
  return k;
}

std::size_t categorical_quantile(double uniform, std::span<const double> probabilities) {
  const double target = uniform * sum_of_weights(probabilities);
  double cumulated = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] == 0) continue;
    cumulated += probabilities[i];
    last = i;
    if (target < cumulated) break;
  }
  return last;
}

}  // namespace headwater
