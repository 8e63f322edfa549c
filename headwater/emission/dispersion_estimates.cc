#include "headwater/emission/dispersion_estimates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/elementary.hpp"

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
// So many channels without a say speak together. The sum of fewer skewed scores is skewed as well:
// with 4 channels, searches that trusted it ended at worse starts.
constexpr Index kFewestTogether = 64;
// A slope over the mean counts is asked for from so many channels that have a say, and 0 unless it
// is so many standard errors away from that.
constexpr Index kFewestForSlope = 10;
constexpr double kClearSlope = 2;
// When the search for that variance ends: steps, the interval of its logarithm, and the excess of
// the squares for each channel.
constexpr int kMostSecants = 60;
constexpr double kSmallInterval = 1e-10;
constexpr double kSmallExcess = 1e-10;

// The logarithm that each channel's own counts ask for, and how precisely. Scoring itself asks for
// the unlimited one, whose errors have the inverse of the precision as their variance.
struct Wishes {
  Vector now;  // the logarithms that there are
  Vector logarithms;
  Vector unlimited;
  Vector precisions;
  Vector told_precisions;      // of the channels that have a say; 0 for the others
  Vector precisions_together;  // of the channels that have none, if they are many; else 0
};

// With r = own[0] / own[1] / now: a step of log r, or of r - 1 where that is below 0.
Wishes wishes_of(std::span<const double> statistics, double observations, const Vector& now) {
  using Stride = Eigen::InnerStride<DispersionStatistics::kPerChannel>;
  using Column = Eigen::Map<const Vector, Eigen::Unaligned, Stride>;
  const Column wished(statistics.data(), now.size());
  const Column information(statistics.data() + 1, now.size());
  Vector logarithms(now.size());
  vector_log(as_span(now), as_span(logarithms));
  const Vector ratios =
      (information.array() > 0).select(wished.array() / information.array() / now.array(), 1.0);
  Vector steps = ratios.cwiseMax(1.0);
  vector_log(as_span(steps), as_span(steps));
  steps = (ratios.array() > 1).select(steps.cwiseMin(kLargestChange), ratios.array() - 1);
  const Vector precisions =
      (information.array() > 0)
          .select(now.array().square() * information.array() * observations, 0.0);
  const Vector told = (precisions.array() >= kLeastPrecision).select(precisions, 0.0);
  const Index untold = (precisions.array() > told.array()).count();
  return {logarithms,
          logarithms + steps.cwiseMax(-kLargestChange),
          logarithms.array() + (ratios.array() - 1),
          precisions,
          told,
          untold < kFewestTogether ? Vector::Zero(now.size()) : Vector(precisions - told)};
}

Index count_told(const Wishes& wishes) {
  return (wishes.precisions.array() >= kLeastPrecision).count();
}

// How much the wish of a channel counts, where the logarithms have this variance over the channels.
auto weights_at(double variance, const Vector& precisions) {
  return precisions.array() / (1 + variance * precisions.array());
}

// Of channels with few counts most scores ask for less dispersion, and a rare one for much more.
// Limited one by one they would ask for none at all. Their sum is right, and is limited as one.
double mean_at(const Wishes& wishes, double variance) {
  const double first = wishes.now[0];  // taken off, so that no digits are lost
  const Eigen::ArrayXd alone = weights_at(variance, wishes.precisions - wishes.precisions_together);
  const Eigen::ArrayXd together = weights_at(variance, wishes.precisions_together);
  double sum = (alone * (wishes.logarithms.array() - first)).sum();
  const double weight = together.sum();
  if (weight > 0) {
    const double step = (together * (wishes.unlimited - wishes.now).array()).sum() / weight;
    sum += (together * (wishes.now.array() - first)).sum() +
           weight * std::clamp(step, -kLargestChange, kLargestChange);
  }
  return first + sum / (alone.sum() + weight);
}

// Of the channels that have a say, around that mean.
double squares_at(const Wishes& wishes, double variance) {
  const double mean = mean_at(wishes, variance);
  return (weights_at(variance, wishes.told_precisions) * (wishes.unlimited.array() - mean).square())
      .sum();
}

// The variance at which the weighted squares are what they are expected to be [PauleMandel1982].
// They fall as the variance grows: the root is between two that are moved towards it by the secant,
// in the logarithm of the variance. The value of an end that stays twice is halved (the Illinois
// rule).
double variance_over_channels(const Wishes& wishes) {
  const auto told = static_cast<double>(count_told(wishes));
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

// Logarithms of mean counts, for a line over them. Quiet channels, which have no say on the line,
// are not placed beyond those that have.
Vector places_of(std::span<const double> mean_counts, const Wishes& wishes) {
  Vector places(wishes.precisions.size());
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (Index m = 0; m < places.size(); ++m) {
    const double mean = mean_counts[static_cast<std::size_t>(m)];
    places[m] = std::log(mean);
    if (wishes.precisions[m] < kLeastPrecision || !(mean > 0)) continue;
    least = std::min(least, places[m]);
    most = std::max(most, places[m]);
  }
  if (!(least < most)) return Vector::Zero(places.size());
  return places.cwiseMax(least).cwiseMin(most);
}

// Of the line over these places, by the channels that have a say. Shrunk by the part of its square
// that its error explains.
double slope_of(const Wishes& wishes, const Vector& places, double variance) {
  const Vector weights = weights_at(variance, wishes.told_precisions);
  const double all = weights.sum();
  const Vector away = places.array() - weights.dot(places) / all;
  const double spread = weights.dot(away.cwiseAbs2());
  if (!(spread > 0)) return 0;
  const Vector logarithms = wishes.logarithms.array() - weights.dot(wishes.logarithms) / all;
  const double slope = (weights.array() * away.array()).matrix().dot(logarithms) / spread;
  const double error = kClearSlope * kClearSlope / spread;
  return slope * slope > error ? slope - error / slope : 0;
}

// What is left of the wishes beside a line.
Wishes without_line(Wishes wishes, const Vector& line) {
  for (Vector* logarithms : {&wishes.now, &wishes.logarithms, &wishes.unlimited}) {
    *logarithms -= line;
  }
  return wishes;
}

// Each channel's logarithm, drawn to the mean of all.
Vector drawn_to_mean(const Wishes& wishes, double variance) {
  const double mean = mean_at(wishes, variance);
  const auto precision = variance * wishes.precisions.array();
  return (precision * wishes.logarithms.array() + mean) / (precision + 1);
}

Vector drawn_to_line(const Wishes& wishes, std::span<const double> mean_counts) {
  const double variance = variance_over_channels(wishes);
  if (mean_counts.empty() || count_told(wishes) < kFewestForSlope) {
    return drawn_to_mean(wishes, variance);
  }
  const Vector places = places_of(mean_counts, wishes);
  const double slope = slope_of(wishes, places, variance);
  if (slope == 0) return drawn_to_mean(wishes, variance);
  const Vector line = slope * places;
  const Wishes beside = without_line(wishes, line);
  return drawn_to_mean(beside, variance_over_channels(beside)) + line;
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
                           const Vector& now, std::span<const double> mean_counts) {
  const Wishes wishes = wishes_of(statistics, observations, now.cwiseMax(kFloor));
  if (!(wishes.precisions.maxCoeff() > 0)) return now;
  Vector dispersions = drawn_to_line(wishes, mean_counts);
  vector_exp(as_span(dispersions), as_span(dispersions));
  return dispersions.cwiseMax(kFloor).cwiseMin(kLargestDispersion);
}

}  // namespace headwater
