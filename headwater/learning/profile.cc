#include "headwater/learning/profile.hpp"

#include <algorithm>

namespace headwater {

namespace {

// Neighbours on either side, as a part of the period, and at least one.
constexpr Index kNeighbourhoods = 24;
// No rate is below this part of the mean rate: a phase without a count is never a certainty.
constexpr double kSmallestRate = 1e-4;

struct Rate {
  double value = 0;
  double noise = 0;  // the variance of the value
};

// Of the neighbours of phase h, nearer ones with more weight. The circle of neighbours grows until
// something was expected of them.
Rate rate_near(const Vector& counts, const Vector& expected, Index h, double mean_rate) {
  const Index period = counts.size();
  for (Index width = std::max<Index>(1, period / kNeighbourhoods);; width *= 2) {
    double sum = 0;
    double exposure = 0;
    double squares = 0;
    for (Index j = 1; j <= std::min(width, period / 2); ++j) {
      const double weight = static_cast<double>(width + 1 - j);
      for (const Index near : {(h + j) % period, (h - j + period) % period}) {
        sum += weight * counts[near];
        exposure += weight * expected[near];
        squares += weight * weight * expected[near];
      }
    }
    if (exposure > 0) {
      // As if of the mean rate where there are few counts.
      const double value = sum / exposure;
      return {value, std::max(value, mean_rate / 4) * squares / (exposure * exposure)};
    }
    if (width >= period / 2) return {mean_rate, 0};
  }
}

}  // namespace

Vector shrunk_rates(const Vector& counts, const Vector& expected) {
  const Index period = counts.size();
  if (!(expected.sum() > 0) || !(counts.sum() > 0)) return Vector::Ones(period);
  const double mean_rate = counts.sum() / expected.sum();
  std::vector<Rate> near(static_cast<std::size_t>(period));
  Vector noise = Vector::Zero(period);
  double scatter = 0;
  double visited = 0;
  for (Index h = 0; h < period; ++h) {
    Rate& around = near[static_cast<std::size_t>(h)];
    around = rate_near(counts, expected, h, mean_rate);
    if (!(expected[h] > 0)) continue;
    noise[h] = std::max(around.value, mean_rate / 4) / expected[h];
    const double away = counts[h] / expected[h] - around.value;
    scatter += away * away - noise[h] - around.noise;
    visited += 1;
  }
  const double own =
      std::max(0.0, scatter / visited);  // variance of phases around their neighbours
  Vector rates(period);
  Vector left(period);  // noise that is left
  for (Index h = 0; h < period; ++h) {
    const Rate& around = near[static_cast<std::size_t>(h)];
    const double before = own + around.noise;
    const bool is_visited = expected[h] > 0 && before + noise[h] > 0;
    const double weight = is_visited ? before / (before + noise[h]) : 0;
    rates[h] = around.value;
    if (weight > 0) rates[h] += weight * (counts[h] / expected[h] - around.value);
    left[h] = expected[h] > 0 ? weight * noise[h] : before;
  }
  // Of the phases that were visited: the others say nothing of how much phases differ.
  const auto is_visited = (expected.array() > 0).cast<double>();
  const double noise_left = (is_visited * left.array()).sum() / visited;
  const double spread =
      (is_visited * (rates.array() - mean_rate).square()).sum() / visited - noise_left;
  const double kept = spread > 0 ? spread / (spread + noise_left) : 0;
  rates = (mean_rate + kept * (rates.array() - mean_rate)).max(kSmallestRate * mean_rate);
  return rates;
}

Matrix plain_profile(const PhaseSums& sums) {
  Matrix profile =
      (sums.expected.array() > 0).select(sums.counts.array() / sums.expected.array(), 1);
  for (Index k = 0; k < profile.rows(); ++k) {
    const double mean = profile.row(k).mean();
    if (mean > 0) {
      profile.row(k) /= mean;
    } else {
      profile.row(k).setOnes();
    }
  }
  return profile;
}

Matrix shrunk_profile(const PhaseSums& sums) {
  Matrix profile(sums.counts.rows(), sums.counts.cols());
  for (Index k = 0; k < profile.rows(); ++k) {
    const Vector visits = sums.visits;
    profile.row(k) = shrunk_rates(sums.counts.row(k).transpose().cwiseProduct(visits),
                                  sums.expected.row(k).transpose().cwiseProduct(visits));
    profile.row(k) /= profile.row(k).mean();
  }
  return profile;
}

}  // namespace headwater
