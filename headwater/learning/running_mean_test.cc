#include "headwater/learning/running_mean.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "headwater/core/test_numbers.hpp"

namespace headwater {
namespace {

// The formulas of the header, over the whole past, for one channel of several.
double plain_log_probability(const std::vector<std::vector<double>>& past,
                             const std::vector<double>& y) {
  const std::size_t channels = y.size();
  const auto rate_before = [&](std::size_t t, std::size_t m) {
    double counts = 0;
    double exposure = 0;
    double all_counts = 0;
    double all_exposure = 0;
    for (std::size_t s = 0; s < t; ++s) {
      for (std::size_t i = 0; i < channels; ++i) {
        if (std::isnan(past[s][i])) continue;
        all_counts += past[s][i];
        all_exposure += 1;
        if (i == m) counts += past[s][i];
        if (i == m) exposure += 1;
      }
    }
    const double all = (all_counts + .5) / (all_exposure + .5);
    return (counts + .5 * all) / (exposure + .5);
  };
  std::vector<double> excess(channels);
  std::vector<double> squares(channels);
  double all_excess = 0;
  double all_squares = 0;
  for (std::size_t t = 0; t < past.size(); ++t) {
    for (std::size_t m = 0; m < channels; ++m) {
      if (std::isnan(past[t][m])) continue;
      const double mean = rate_before(t, m);
      excess[m] += (past[t][m] - mean) * (past[t][m] - mean) - mean;
      squares[m] += mean * mean;
    }
  }
  for (std::size_t m = 0; m < channels; ++m) {
    all_excess += excess[m];
    all_squares += squares[m];
  }
  double sum = 0;
  for (std::size_t m = 0; m < channels; ++m) {
    if (std::isnan(y[m])) continue;
    const double mean = rate_before(past.size(), m);
    const double weight =
        past.empty() ? 1 : 20 * all_squares / static_cast<double>(past.size() * channels);
    const double shared = all_squares > 0 ? all_excess / all_squares : 0;
    const double dispersion = std::max(0.0, (excess[m] + weight * shared) / (squares[m] + weight));
    if (dispersion < 1e-7) {
      sum += y[m] * std::log(mean) - mean - std::lgamma(y[m] + 1);
    } else {
      const double r = 1 / dispersion;
      sum += std::lgamma(y[m] + r) - std::lgamma(r) - std::lgamma(y[m] + 1) +
             r * std::log(r / (r + mean)) + y[m] * std::log(mean / (r + mean));
    }
  }
  return sum;
}

TEST(RunningMean, IsWhatItsFormulasSay) {
  std::mt19937 random(1);
  RunningMean running;
  std::vector<std::vector<double>> past;
  for (int t = 0; t < 60; ++t) {
    std::vector<double> y;
    const double gain = std::gamma_distribution<>(2, .5)(random);  // dispersed from some time on
    for (const double rate : {.1, 3.0, 20.0}) {
      y.push_back(std::poisson_distribution<>(t < 20 ? rate : rate * gain)(random));
    }
    if (t % 7 == 3) y[1] = kMissing;
    EXPECT_NEAR(running.predict(Observation(y)), plain_log_probability(past, y), 1e-9) << t;
    running.add(Observation(y));
    past.push_back(y);
  }
}

// An exposure of 2 is as good as two rows with half of the counts each, for the rates.
TEST(RunningMean, KnowsExposures) {
  RunningMean once;
  RunningMean twice;
  const std::vector<double> exposures = {2, 2};
  once.add(Observation(std::vector<double>{4, 10}, exposures));
  twice.add(Observation(std::vector<double>{2, 5}));
  twice.add(Observation(std::vector<double>{2, 5}));
  const Observation y(std::vector<double>{3, 4});
  EXPECT_DOUBLE_EQ(once.predict(y), twice.predict(y));
}

TEST(RunningMean, GoesOnFromItsState) {
  RunningMean running;
  for (int t = 0; t < 5; ++t) {
    running.predict(Observation(std::vector<double>{1.0 * t, 3}));
    running.add(Observation(std::vector<double>{1.0 * t, 3}));
  }
  StateArchive written;
  written(running);
  StateArchive read(written.bytes());
  RunningMean other;
  read(other);
  read.expect_end();
  const Observation y(std::vector<double>{2, 9});
  EXPECT_EQ(running.predict(y), other.predict(y));
}

// S and E of one channel with the weights kept^(age), the newest observation of age 1; for a
// Poisson law, i.e. before any squared error is known.
TEST(RunningMeanTest, OneThatForgetsWeighsByAge) {
  constexpr double kKept = 0.9;
  RunningMean mean(kKept);
  const std::vector<double> counts = {4, 0, 7, 2, 30};
  double weighted = 0;
  double exposure = 0;
  for (const double count : counts) {
    mean.add(Observation(std::vector{count, 1.0}));
    weighted = kKept * (weighted + count);
    exposure = kKept * (exposure + 1);
  }
  const double of_all = (weighted + exposure + .5) / (2 * exposure + .5);
  double expected = 0;
  const std::vector<double> next = {3, 1};
  const std::vector<double> sums = {weighted, exposure};  // the second channel has always had 1
  for (std::size_t m = 0; m < 2; ++m) {
    const double rate = (sums[m] + .5 * of_all) / (exposure + .5);
    expected += next[m] * std::log(rate) - rate - std::lgamma(next[m] + 1);
  }
  EXPECT_NEAR(mean.predict(Observation(next)), expected, 1e-12);
}

// Weights of 0.9^-t leave the range of doubles after 7,000 observations, and are expressed in
// another unit before. What is forgotten leaves no trace.
TEST(RunningMeanTest, OneThatForgetsNeverOverflows) {
  RunningMean after_long(0.9);
  for (int t = 0; t < 20000; ++t) {
    const Observation y(std::vector{t < 19000 ? 50.0 : 2.0, 1.0});
    after_long.predict(y);
    after_long.add(y);
  }
  RunningMean after_short(0.9);
  for (int t = 0; t < 1000; ++t) {
    const Observation y(std::vector{2.0, 1.0});
    after_short.predict(y);
    after_short.add(y);
  }
  const Observation next(std::vector{3.0, 1.0});
  EXPECT_NEAR(after_long.predict(next), after_short.predict(next), 1e-9);
}

}  // namespace
}  // namespace headwater
