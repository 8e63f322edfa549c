#include "headwater/emission/count_tails.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "headwater/core/special.hpp"
#include "headwater/core/tails.hpp"
#include "headwater/emission/hurdle_terms.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"

namespace headwater {

namespace {

constexpr double kSumEpsilon = 1e-12;
constexpr double kMostTerms = 20000;
constexpr std::size_t kFewCounts = 64;
constexpr double kLeastSilence = -600;

// 1 / k: a division would take longer than all else.
constexpr std::array<double, kFewCounts + 1> kInverses = [] {
  std::array<double, kFewCounts + 1> inverses{};
  for (std::size_t k = 1; k <= kFewCounts; ++k) inverses[k] = 1 / static_cast<double>(k);
  return inverses;
}();

// p(k + 1) / p(k) = mean / (1 + phi mean) (1 + k phi) / (k + 1)
struct Ratios {
  double factor;
  double phi;
  double up(double k) const { return factor * (1 + k * phi) / (k + 1); }
};

double sum_above(double y, double at, const Ratios& ratios) {
  double term = at;
  double sum = 0;
  double limit = 0;
  for (double k = y; k < y + kMostTerms; ++k) {
    const double ratio = ratios.up(k);
    term *= ratio;
    sum += term;
    // Ratios approach `factor phi`, so the rest is nearly a geometric series.
    limit = std::max(ratio, ratios.factor * ratios.phi);
    if (term * limit <= (1 - limit) * kSumEpsilon * sum) return sum;
  }
  return sum + term * limit / (1 - limit);
}

double sum_below(double y, double at, const Ratios& ratios) {
  double term = at;
  double sum = 0;
  for (double k = y - 1; k >= 0; --k) {
    term /= ratios.up(k);
    sum += term;
    if (term * k <= kSumEpsilon * sum) break;
  }
  return sum;
}

CountTails whole_count_tails(double y, double mean, double phi) {
  const double silence = -negative_binomial::softened(mean, phi);
  if (y == 0) {
    const double at = std::exp(silence);
    return {0, at, -std::expm1(silence)};
  }
  const Ratios ratios{mean / (1 + phi * mean), phi};
  // From 0 upwards, without another logarithm.
  if (y <= static_cast<double>(kFewCounts) && silence > kLeastSilence) {
    double at = std::exp(silence);
    double below = 0;
    for (std::size_t k = 1; k <= static_cast<std::size_t>(y); ++k) {
      below += at;
      at *= ratios.factor * (1 + static_cast<double>(k - 1) * phi) * kInverses[k];
    }
    const double above = y > mean ? sum_above(y, at, ratios) : std::max(0.0, 1 - at - below);
    return {below, at, above};
  }
  const double at = std::exp(silence + negative_binomial::rising_logs(y, phi) - log_factorial(y) +
                             y * std::log(ratios.factor));
  if (y > mean) {
    const double above = sum_above(y, at, ratios);
    return {std::max(0.0, 1 - at - above), at, above};
  }
  const double below = sum_below(y, at, ratios);
  return {below, at, std::max(0.0, 1 - at - below)};
}

CountTails large_count_tails(double y, double mean, double phi) {
  const double variance = mean * (1 + phi * mean);
  const double half_skewness = (0.5 + phi * mean) / std::sqrt(variance);
  const double root = 1 / half_skewness;  // of the shape
  const double above = gamma_tail(root * root, root * (root + (y - mean) / std::sqrt(variance)));
  return {1 - above, 0, above};
}

}  // namespace

double CountTails::smaller_side(double uniform) const {
  return std::min(below + uniform * at, above + (1 - uniform) * at);
}

double CountTails::two_sided() const { return std::min(1.0, 2 * std::min(below, above) + at); }

CountTails& CountTails::add(double weight, const CountTails& other) {
  below += weight * other.below;
  at += weight * other.at;
  above += weight * other.above;
  return *this;
}

double VarianceFunction::mean_count(double mu, double mixing) const {
  if (!has_hurdle()) return mu;
  return hurdle::presence(mu, quadratic + mixing * (1 + quadratic)) * (1 + excess);
}

double VarianceFunction::slope_of_mean(double mu) const {
  if (!has_hurdle()) return 1;
  return (1 - hurdle::presence(mu, quadratic)) / (1 + quadratic * mu) * (1 + excess);
}

double VarianceFunction::variance_of_count(double mu) const {
  if (!has_hurdle()) return constant + linear * mu + quadratic * mu * mu;
  // A positive count has the second moment (1 + x) (1 + 2 x).
  const double mean = mean_count(mu);
  return mean * ((1 + 2 * excess) - mean);
}

namespace {

// A y between whole numbers has no probability of its own.
template <class OfWhole>
CountTails between_whole(double y, const OfWhole& of_whole) {
  const double whole = std::floor(y);
  const CountTails tails = of_whole(whole);
  if (y == whole) return tails;
  const double part = y - whole;
  return {tails.below + part * tails.at, 0, tails.above + (1 - part) * tails.at};
}

}  // namespace

CountTails hurdle_tails(double y, double mean, double dispersion, double excess) {
  const double present = hurdle::presence(mean, dispersion);
  const double silent = std::exp(-negative_binomial::softened(mean, dispersion));
  return between_whole(y, [&](double whole) -> CountTails {
    if (whole == 0) return {0, silent, present};
    const double log_ratio = std::log(excess) - std::log1p(excess);
    const double reaches = present * std::exp((whole - 1) * log_ratio);  // P(Y >= y)
    return {silent - present * std::expm1((whole - 1) * log_ratio), reaches / (1 + excess),
            reaches * excess / (1 + excess)};
  });
}

CountTails negative_binomial_tails(double y, double mean, double dispersion) {
  if (!(mean > 0)) return y > 0 ? CountTails{1, 0, 0} : CountTails{0, 1, 0};
  const double phi = dispersion < negative_binomial::kLeastDispersion ? 0 : dispersion;
  if (y + mean > kLargeSum) return large_count_tails(y, mean, phi);
  return between_whole(y, [&](double whole) { return whole_count_tails(whole, mean, phi); });
}

CountTails tails_by_variance(const VarianceFunction& variance, double y, double mean) {
  if (variance.has_hurdle()) return hurdle_tails(y, mean, variance.quadratic, variance.excess);
  if (variance.constant == 0 && variance.linear == 1) {
    return negative_binomial_tails(y, mean, variance.quadratic);
  }
  const double spread = variance.variance_of_count(mean);
  if (!(spread > 0)) return {y > mean ? 1.0 : 0.0, y == mean ? 1.0 : 0.0, y < mean ? 1.0 : 0.0};
  const double z = (y - mean) / std::sqrt(spread);
  return {normal_tail(-z), 0, normal_tail(z)};
}

}  // namespace headwater
