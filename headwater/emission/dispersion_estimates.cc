#include "headwater/emission/dispersion_estimates.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/emission/negative_binomial_terms.hpp"

namespace headwater {

namespace {

using negative_binomial::kLargestDispersion;
using negative_binomial::kLeastDispersion;

// Logarithms know no zero; channels with less than this are as good as Poisson.
constexpr double kFloor = 1e-5;
// The quadratic that scoring assumes holds nearby: one step changes a logarithm by no more.
constexpr double kLargestChange = 2;
// Of the logarithms over the channels. Ranges that fits of real streams stay within.
constexpr double kLeastVariance = 0.01;
constexpr double kLargestVariance = 9;
constexpr int kBisections = 40;

// The logarithm that each channel's own counts ask for, and how precisely.
struct Wishes {
  Vector logarithms;
  Vector precisions;
};

Wishes wishes_of(std::span<const double> statistics, double observations, const Vector& now) {
  Wishes wishes{now.array().log(), Vector::Zero(now.size())};
  for (Index m = 0; m < now.size(); ++m) {
    const double* own = statistics.data() + m * DispersionStatistics::kPerChannel;
    if (!(own[1] > 0)) continue;
    const double ratio = own[0] / own[1] / now[m];
    wishes.logarithms[m] += ratio > 1 ? std::min(std::log(ratio), kLargestChange)
                                      : std::max(ratio - 1, -kLargestChange);
    wishes.precisions[m] = now[m] * now[m] * own[1] * observations;
  }
  return wishes;
}

// Weights of the channels where the logarithms have this variance over the channels.
Vector weights_at(const Wishes& wishes, double variance) {
  return wishes.precisions.array() / (1 + variance * wishes.precisions.array());
}

double mean_at(const Wishes& wishes, const Vector& weights) {
  return weights.dot(wishes.logarithms) / weights.sum();
}

// The variance at which the weighted squares are what they are expected to be [PauleMandel1982].
double variance_over_channels(const Wishes& wishes) {
  const auto told = static_cast<double>((wishes.precisions.array() > 0).count());
  const auto is_too_small = [&](double variance) {
    const Vector weights = weights_at(wishes, variance);
    const Vector away = wishes.logarithms.array() - mean_at(wishes, weights);
    return weights.dot(away.cwiseAbs2()) > told - 1;
  };
  double low = kLeastVariance;
  double high = kLargestVariance;
  if (!is_too_small(low)) return low;
  if (is_too_small(high)) return high;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::sqrt(low * high);
    (is_too_small(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace

double shared_dispersion(std::span<const double> statistics, double now) {
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < statistics.size(); ++i) sums[i % 2] += statistics[i];
  if (!(sums[1] > 0)) return now;
  const double wish = sums[0] / sums[1];
  return wish < kLeastDispersion ? 0 : std::min(wish, kLargestDispersion);
}

Vector channel_dispersions(std::span<const double> statistics, double observations,
                           const Vector& now) {
  const Wishes wishes = wishes_of(statistics, observations, now.cwiseMax(kFloor));
  if (!(wishes.precisions.maxCoeff() > 0)) return now;
  const double variance = variance_over_channels(wishes);
  const double mean = mean_at(wishes, weights_at(wishes, variance));
  const auto precision = variance * wishes.precisions.array();
  const Vector logarithms = (precision * wishes.logarithms.array() + mean) / (precision + 1);
  return logarithms.array().exp().cwiseMax(kFloor).cwiseMin(kLargestDispersion);
}

}  // namespace headwater
