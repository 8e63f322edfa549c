#include "headwater/filters/resampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/error.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

using Ancestors = std::vector<std::int32_t>;

// For each test of a sample, were the seeds drawn at random.
constexpr double kAlarmRate = 1e-6;
constexpr std::uint64_t kRepetitions = 20'000;

Generator generator_of(std::uint64_t seed) {
  return RandomStream(seed).at(0, 0, Purpose::resampling);
}

Ancestors draw(Resampling scheme, const std::vector<double>& weights, std::size_t n,
               std::uint64_t seed) {
  Generator generator = generator_of(seed);
  Ancestors ancestors(n, -1);
  resample(scheme, weights, generator, ancestors);
  return ancestors;
}

std::vector<double> count(const Ancestors& ancestors, std::size_t size) {
  std::vector<double> counts(size, 0.0);
  for (const std::int32_t ancestor : ancestors) ++counts.at(static_cast<std::size_t>(ancestor));
  return counts;
}

std::vector<double> normalised(std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

// Weights of every size, with zeros at both ends and between.
std::vector<double> uneven_weights() {
  return {0, 0, 0.3, 1.7, 0, 4.4, 1e-9, 2.45, 0.05, 0, 3.1, 0.9, 0, 0};
}

std::vector<double> random_weights(std::size_t size, std::uint64_t seed) {
  Generator generator = generator_of(seed);
  std::vector<double> weights(size);
  for (double& weight : weights) weight = std::pow(exponential(generator), 3);
  return weights;
}

// The weights are summed in another order, which moves no point across a cumulative weight here.
TEST(SharedResampling, DrawsTheSameWhateverTheThreads) {
  for (const Resampling scheme : {Resampling::kSystematic, Resampling::kStratified}) {
    for (const std::size_t size : {100, 2048, 2049, 9000}) {
      const std::vector<double> weights = random_weights(size, 5);
      for (const int num_threads : {1, 2, 3}) {
        const ThreadPool pool(num_threads);
        SharedResampling shared;
        for (const std::uint64_t seed : {1, 2}) {
          Generator generator = generator_of(seed);
          Ancestors ancestors(size, -1);
          shared.resample(scheme, weights, generator, ancestors, pool);
          EXPECT_EQ(ancestors, draw(scheme, weights, size, seed));
        }
      }
    }
  }
}

TEST(SharedResampling, RefusesWeightsThatAreNone) {
  const ThreadPool pool(2);
  SharedResampling shared;
  Generator generator = generator_of(1);
  Ancestors ancestors(5000);
  const auto try_with = [&](double value, std::size_t at) {
    std::vector<double> weights(5000, at == 0 ? value : 1);
    weights[at] = value;
    shared.resample(Resampling::kSystematic, weights, generator, ancestors, pool);
  };
  EXPECT_THROW(try_with(-1, 4000), UsageError);
  EXPECT_THROW(try_with(std::nan(""), 3000), UsageError);
  EXPECT_THROW(try_with(0, 0), UsageError);
}

class ResamplingScheme : public testing::TestWithParam<Resampling> {};

TEST_P(ResamplingScheme, AscendsAndNeverDrawsAWeightOfZero) {
  const std::vector<double> weights = uneven_weights();
  for (const std::size_t n : {1, 2, 5, 14, 100}) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      const Ancestors ancestors = draw(GetParam(), weights, n, seed);
      ASSERT_TRUE(std::is_sorted(ancestors.begin(), ancestors.end()));
      for (const std::int32_t ancestor : ancestors) {
        ASSERT_GT(weights.at(static_cast<std::size_t>(ancestor)), 0);
      }
    }
  }
}

TEST_P(ResamplingScheme, DrawsTheOnlyWeight) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(draw(GetParam(), {0.7}, 5, seed), Ancestors(5, 0));
    EXPECT_EQ(draw(GetParam(), {0, 0, 1e-300, 0}, 5, seed), Ancestors(5, 2));
    EXPECT_EQ(draw(GetParam(), {0, 1e300}, 5, seed), Ancestors(5, 1));
  }
}

TEST_P(ResamplingScheme, DrawsNothingForNothing) {
  EXPECT_EQ(draw(GetParam(), {1, 2}, 0, 1), Ancestors{});
}

// The variance of the number of copies of an index: with f the fraction of N w, Bernoulli for
// systematic points, f (1 - f); for stratified ones, the sum of two such at most, 1/2; for N
// independent draws N w (1 - w); and for residual ones, R f / R (1 - f / R), less than f.
double variance_of_copies(Resampling scheme, double w, double n) {
  const double f = n * w - std::floor(n * w);
  switch (scheme) {
    case Resampling::kSystematic:
      return f * (1 - f);
    case Resampling::kStratified:
      return 0.5;
    case Resampling::kMultinomial:
      return n * w * (1 - w);
    case Resampling::kResidual:
      return f;
  }
  return kNaN;
}

// The mean of the copies over the repetitions is normal, but for the weights of next to nothing,
// whose copies are a Poisson number in all: at most five of an expectation below 1e-3 are seen but
// with probability 1e-3^6 / 6! < 1e-20. The rate of alarms is shared among the indices.
TEST_P(ResamplingScheme, HasTheExpectedCopies) {
  for (const std::size_t size : {1, 9, 14, 40}) {
    const std::vector<double> weights = uneven_weights();
    const std::vector<double> w = normalised(weights);
    std::vector<double> total(weights.size(), 0.0);
    for (std::uint64_t seed = 0; seed < kRepetitions; ++seed) {
      const auto counts = count(draw(GetParam(), weights, size, seed), weights.size());
      for (std::size_t i = 0; i < counts.size(); ++i) total[i] += counts[i];
    }
    const auto n = static_cast<double>(size);
    const double z = reference::normal_critical(kAlarmRate / static_cast<double>(w.size()));
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double expected = kRepetitions * n * w[i];
      const double deviation = std::sqrt(kRepetitions * variance_of_copies(GetParam(), w[i], n));
      EXPECT_LE(std::abs(total[i] - expected), expected < 1e-3 ? 5 : z * deviation)
          << "index " << i << " of " << size << " draws";
    }
  }
}

// The mean over the ancestors of any function has the weighted mean as its expectation: the error,
// averaged over independent repetitions, over its own standard error is normal.
TEST_P(ResamplingScheme, KeepsWeightedMeans) {
  const std::vector<double> weights = random_weights(50, 3);
  const std::vector<double> w = normalised(weights);
  const auto value = [](std::size_t i) { return std::sin(static_cast<double>(7 * i)); };
  double truth = 0;
  for (std::size_t i = 0; i < w.size(); ++i) truth += w[i] * value(i);
  double sum = 0;
  double squares = 0;
  for (std::uint64_t seed = 0; seed < kRepetitions; ++seed) {
    double mean = 0;
    for (const std::int32_t a : draw(GetParam(), weights, 32, seed)) {
      mean += value(static_cast<std::size_t>(a)) / 32;
    }
    sum += mean - truth;
    squares += (mean - truth) * (mean - truth);
  }
  EXPECT_LT(std::abs(sum), reference::normal_critical(kAlarmRate) * std::sqrt(squares));
}

// Ten weights of 0.1 sum to just below 1, and those of 1/49 to just above: still one copy each.
// Multinomial draws promise nothing of the kind.
TEST_P(ResamplingScheme, CopiesEqualWeightsEvenly) {
  if (GetParam() == Resampling::kMultinomial) return;
  for (const std::size_t n : {1, 3, 10, 49, 1000}) {
    const std::vector<double> weights(n, 1 / static_cast<double>(n));
    Ancestors each(n);
    std::iota(each.begin(), each.end(), 0);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      EXPECT_EQ(draw(GetParam(), weights, n, seed), each) << n;
    }
  }
}

TEST_P(ResamplingScheme, RefusesWeightsThatAreNone) {
  const std::vector<std::vector<double>> wrong = {{},        {0, 0},         {1, -0.1},
                                                  {1, kNaN}, {1, kInfinity}, {1.7e308, 1.7e308}};
  for (const auto& weights : wrong) EXPECT_THROW(draw(GetParam(), weights, 4, 1), UsageError);
}

TEST_P(ResamplingScheme, HasAName) {
  EXPECT_EQ(parse_resampling(to_string(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ResamplingScheme,
                         testing::Values(Resampling::kSystematic, Resampling::kStratified,
                                         Resampling::kMultinomial, Resampling::kResidual),
                         [](const auto& test) { return to_string(test.param); });

TEST(Resampling, NamesAreListedForAnUnknownOne) {
  EXPECT_EQ(to_string(Resampling::kSystematic), "systematic");
  try {
    parse_resampling("sorted");
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown resampling 'sorted'; there are: systematic, stratified, multinomial, "
                 "residual");
  }
}

// How far copies stray from N w: below 1 and 2, where a little is left for rounding; residual ones
// have their whole part at least.
TEST(Resampling, CopiesStayNearTheirExpectation) {
  constexpr double kRounding = 1e-9;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::vector<double> weights = random_weights(20 + seed % 30, seed);
    const std::vector<double> w = normalised(weights);
    const std::size_t n = 5 + seed % 97;
    const auto copies = [&](Resampling scheme) {
      return count(draw(scheme, weights, n, seed), weights.size());
    };
    const auto systematic = copies(Resampling::kSystematic);
    const auto stratified = copies(Resampling::kStratified);
    const auto residual = copies(Resampling::kResidual);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double expected = static_cast<double>(n) * w[i];
      ASSERT_LT(std::abs(systematic[i] - expected), 1 + kRounding);
      ASSERT_LT(std::abs(stratified[i] - expected), 2 + kRounding);
      ASSERT_GE(residual[i], std::floor(expected - kRounding));
    }
  }
}

// The naive twin: every point looked up from the first weight on.
Ancestors look_up(const std::vector<double>& points, const std::vector<double>& weights) {
  Ancestors found;
  for (const double point : points) {
    found.push_back(static_cast<std::int32_t>(categorical_quantile(point, weights)));
  }
  return found;
}

TEST(Resampling, EqualsTheLookUpOfEachPoint) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<double> weights = random_weights(1 + seed % 60, seed);
    for (std::size_t i = 1; i < weights.size(); i += 3) weights[i] = 0;
    const std::size_t n = 1 + seed * 7 % 80;
    const auto size = static_cast<double>(n);

    Generator generator = generator_of(seed);
    const double offset = generator.uniform();
    std::vector<double> points;
    for (double i = 0; i < size; ++i) points.push_back((i + offset) / size);
    EXPECT_EQ(draw(Resampling::kSystematic, weights, n, seed), look_up(points, weights));

    generator = generator_of(seed);
    points.clear();
    for (double i = 0; i < size; ++i) points.push_back((i + generator.uniform()) / size);
    EXPECT_EQ(draw(Resampling::kStratified, weights, n, seed), look_up(points, weights));

    generator = generator_of(seed);
    points.clear();
    double exponent = 0;
    for (double i = 0; i < size; ++i) {
      exponent += exponential(generator) / (size - i);
      points.push_back(-std::expm1(-exponent));
    }
    EXPECT_EQ(draw(Resampling::kMultinomial, weights, n, seed), look_up(points, weights));
  }
}

// A residual draw is its whole copies and a multinomial draw from what is left, sorted.
TEST(Resampling, ResidualIsWholeCopiesAndAMultinomialDraw) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<double> weights = random_weights(1 + seed % 60, seed);
    const std::vector<double> w = normalised(weights);
    const std::size_t n = 1 + seed * 7 % 80;
    Ancestors expected;
    std::vector<double> rests;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double share = static_cast<double>(n) * w[i];
      expected.insert(expected.end(), static_cast<std::size_t>(share),
                      static_cast<std::int32_t>(i));
      rests.push_back(share - std::floor(share));
    }
    if (w.size() > 1) {
      const Ancestors drawn = draw(Resampling::kMultinomial, rests, n - expected.size(), seed);
      expected.insert(expected.end(), drawn.begin(), drawn.end());
      std::sort(expected.begin(), expected.end());
    }
    EXPECT_EQ(draw(Resampling::kResidual, weights, n, seed), expected) << "seed " << seed;
  }
}

// Independent draws, put in order, are draws all the same: the number that falls into each cell,
// over all repetitions, is multinomial, and the number in the first half of one repetition varies
// like a binomial one.
TEST(Resampling, MultinomialDrawsAreIndependent) {
  constexpr double kDraws = 10;
  const std::vector<double> w = {0.1, 0.05, 0.35, 0.2, 0.25, 0.05};
  std::vector<double> observed(w.size(), 0.0);
  std::vector<double> times(static_cast<std::size_t>(kDraws) + 1, 0.0);
  for (std::uint64_t seed = 0; seed < kRepetitions; ++seed) {
    const auto counts =
        count(draw(Resampling::kMultinomial, w, static_cast<std::size_t>(kDraws), seed), w.size());
    for (std::size_t i = 0; i < w.size(); ++i) observed[i] += counts[i];
    ++times[static_cast<std::size_t>(counts[0] + counts[1] + counts[2])];
  }
  std::vector<double> expected;
  for (const double p : w) expected.push_back(kRepetitions * kDraws * p);
  EXPECT_LT(reference::chi_square_statistic(observed, expected),
            reference::chi_square_critical(static_cast<double>(w.size()) - 1, kAlarmRate));

  std::vector<double> binomial;  // 0.1 + 0.05 + 0.35 = 1/2; each cell expects 19.5 at least
  for (double i = 0; i <= kDraws; ++i) {
    binomial.push_back(kRepetitions * std::exp2(-kDraws) * std::tgamma(kDraws + 1) /
                       (std::tgamma(i + 1) * std::tgamma(kDraws - i + 1)));
  }
  EXPECT_LT(reference::chi_square_statistic(times, binomial),
            reference::chi_square_critical(kDraws, kAlarmRate));
}

TEST(QuantileWalk, DoesNotRunPastTheEnd) {
  std::vector<double> weights(10, 0.1);  // sum to 1 - 2^-53
  weights.insert(weights.end(), {0.0, 0.0});
  const auto weight = [&](std::size_t i) { return weights[i]; };
  QuantileWalk walk(weights.size(), weight);
  EXPECT_EQ(walk.at(0), 0);
  EXPECT_EQ(walk.at(0.1), 1);
  EXPECT_EQ(walk.at(1 - 0x1p-53), 9);
  EXPECT_EQ(walk.at(1), 9);
  EXPECT_EQ(walk.at(2), 9);
}

TEST(QuantileWalk, SkipsWeightsOfZero) {
  const std::vector<double> weights = {0, 0, 0.5, 0, 0.5};
  QuantileWalk walk(weights.size(), [&](std::size_t i) { return weights[i]; });
  EXPECT_EQ(walk.at(0), 2);
  EXPECT_EQ(walk.at(0.25), 2);
  EXPECT_EQ(walk.at(0.5), 4);
}

// By walking up the sums from the first; zeros at both ends and inside.
TEST(QuantileTable, FindsWhatAWalkFinds) {
  Generator generator = RandomStream(5).at(0, 0, Purpose::resampling);
  for (const std::size_t n : {1u, 2u, 10u, 1000u}) {
    std::vector<double> weights(n);
    for (double& weight : weights) weight = std::pow(generator.uniform(), 8);
    if (n > 5) weights[0] = weights[3] = weights[n - 1] = 0;
    QuantileTable table;
    table.set(weights);
    std::vector<double> points = {0, std::nextafter(table.total(), 0), table.total()};
    for (int i = 0; i < 2000; ++i) points.push_back(generator.uniform() * table.total());
    for (const double point : points) {
      QuantileWalk walk(n, [&](std::size_t i) { return weights[i]; });
      ASSERT_EQ(table.at(point), walk.at(point)) << n << " weights, point " << point;
    }
  }
}

}  // namespace
}  // namespace headwater
