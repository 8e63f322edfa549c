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
// A channel has a say on that variance if it knows its own logarithm so precisely. Of the others,
// which may be most, the sum of squares would not be what it is expected to be: scores of a few
// counts are far from normal.
constexpr double kLeastPrecision = 1;
// When the search for that variance ends: steps, the interval of its logarithm, and the excess of
// the squares for each channel.
constexpr int kMostSecants = 60;
constexpr double kSmallInterval = 1e-10;
constexpr double kSmallExcess = 1e-10;

// The logarithm that each channel's own counts ask for, and how precisely. Scoring itself asks for
// the unlimited one, whose errors have the inverse of the precision as their variance.
struct Wishes {
  Vector logarithms;
  Vector unlimited;
  Vector precisions;
};

Wishes wishes_of(std::span<const double> statistics, double observations, const Vector& now) {
  Wishes wishes{now.array().log(), now.array().log(), Vector::Zero(now.size())};
  for (Index m = 0; m < now.size(); ++m) {
    const double* own = statistics.data() + m * DispersionStatistics::kPerChannel;
    if (!(own[1] > 0)) continue;
    const double ratio = own[0] / own[1] / now[m];
    wishes.logarithms[m] += ratio > 1 ? std::min(std::log(ratio), kLargestChange)
                                      : std::max(ratio - 1, -kLargestChange);
    wishes.unlimited[m] += ratio - 1;
    wishes.precisions[m] = now[m] * now[m] * own[1] * observations;
  }
  return wishes;
}

// How much the wish of a channel counts, where the logarithms have this variance over the channels.
double weight_at(double variance, double precision) {
  return precision / (1 + variance * precision);
}

double mean_at(const Wishes& wishes, double variance) {
  double weights = 0;
  double sum = 0;
  for (Index m = 0; m < wishes.logarithms.size(); ++m) {
    const double weight = weight_at(variance, wishes.precisions[m]);
    weights += weight;
    sum += weight * (wishes.logarithms[m] - wishes.logarithms[0]);  // so that no digits are lost
  }
  return wishes.logarithms[0] + sum / weights;
}

// Of the channels that have a say, around that mean.
double squares_at(const Wishes& wishes, double variance) {
  const double mean = mean_at(wishes, variance);
  double squares = 0;
  for (Index m = 0; m < wishes.unlimited.size(); ++m) {
    if (wishes.precisions[m] < kLeastPrecision) continue;
    const double away = wishes.unlimited[m] - mean;
    squares += weight_at(variance, wishes.precisions[m]) * away * away;
  }
  return squares;
}

// The variance at which the weighted squares are what they are expected to be [PauleMandel1982].
// They fall as the variance grows: the root is between two that are moved towards it by the secant,
// in the logarithm of the variance. The value of an end that stays twice is halved (the Illinois
// rule).
double variance_over_channels(const Wishes& wishes) {
  const auto told = static_cast<double>((wishes.precisions.array() >= kLeastPrecision).count());
  if (told < 2) return kLeastVariance;
  const auto excess = [&](double logarithm) {
    return squares_at(wishes, std::exp(logarithm)) - (told - 1);
  };
  double low = std::log(kLeastVariance);
  double high = std::log(kLargestVariance);
  double at_low = excess(low);
  double at_high = excess(high);
  if (!(at_low > 0)) return kLeastVariance;
  if (at_high > 0) return kLargestVariance;
  bool was_low = false;
  for (int i = 0; i < kMostSecants && high - low > kSmallInterval; ++i) {
    const double middle = low + (high - low) * at_low / (at_low - at_high);
    const double there = excess(middle);
    if (std::abs(there) < kSmallExcess * told) return std::exp(middle);
    const bool is_low = there > 0;
    (is_low ? low : high) = middle;
    (is_low ? at_low : at_high) = there;
    if (i > 0 && is_low == was_low) (is_low ? at_high : at_low) /= 2;
    was_low = is_low;
  }
  return std::exp(high);
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
  const double mean = mean_at(wishes, variance);
  const auto precision = variance * wishes.precisions.array();
  const Vector logarithms = (precision * wishes.logarithms.array() + mean) / (precision + 1);
  return logarithms.array().exp().cwiseMax(kFloor).cwiseMin(kLargestDispersion);
}

}  // namespace headwater
