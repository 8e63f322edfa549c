#include "headwater/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/error.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

using reference::chi_square_critical;
using reference::chi_square_statistic;
using reference::gamma_cdf;
using reference::gamma_tail;
using reference::kolmogorov_smirnov_critical;
using reference::kolmogorov_statistic;
using reference::normal_cdf;
using reference::normal_critical;

// The probability that an assertion about a sample fails by chance, over random seeds.
constexpr double kAlarmRate = 1e-6;
constexpr std::size_t kDraws = 200'000;

constexpr double kLargestUniform = 1 - 0x1p-53;

using Sampler = std::function<double(Generator&)>;
using Cdf = std::function<double(double)>;

std::vector<double> draw_sorted(const Sampler& sampler, std::uint64_t seed) {
  Generator generator = RandomStream(seed).at(0, 0, Purpose::basis);
  std::vector<double> sample(kDraws);
  for (double& x : sample) x = sampler(generator);
  std::sort(sample.begin(), sample.end());
  return sample;
}

// Counts the values of a sorted sample in each cell: up to the first edge, from there up to the
// second, and so on, and above the last. A value that equals an edge is in the lower cell.
std::vector<double> count_in_cells(const std::vector<double>& sample,
                                   const std::vector<double>& edges) {
  std::vector<double> counts;
  auto from = sample.begin();
  for (const double edge : edges) {
    const auto to = std::upper_bound(from, sample.end(), edge);
    counts.push_back(static_cast<double>(to - from));
    from = to;
  }
  counts.push_back(static_cast<double>(sample.end() - from));
  return counts;
}

// If the draws follow the cdf, the values cdf(x) are uniform. The Kolmogorov-Smirnov distance tests
// the bulk of the distribution but not the tails, so a chi-square test uses cells that become
// narrower towards both ends. The narrowest cell expects 20 draws.
void expect_distributed(const std::vector<double>& sample, const Cdf& cdf) {
  std::vector<double> probabilities(sample.size());
  std::transform(sample.begin(), sample.end(), probabilities.begin(), cdf);
  const auto n = static_cast<double>(sample.size());

  EXPECT_LT(kolmogorov_statistic(probabilities, [](double p) { return p; }),
            kolmogorov_smirnov_critical(sample.size(), kAlarmRate));

  const std::vector<double> edges = {1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999};
  std::vector<double> expected;
  for (std::size_t i = 0; i <= edges.size(); ++i) {
    const double from = i == 0 ? 0 : edges[i - 1];
    const double to = i == edges.size() ? 1 : edges[i];
    expected.push_back(n * (to - from));
  }
  EXPECT_LT(chi_square_statistic(count_in_cells(probabilities, edges), expected),
            chi_square_critical(static_cast<double>(edges.size()), kAlarmRate));
}

TEST(Exponential, IsExponential) {
  expect_distributed(draw_sorted(exponential, 21), [](double x) { return -std::expm1(-x); });
}

TEST(Normal, IsNormal) { expect_distributed(draw_sorted(normal, 22), normal_cdf); }

// The mean of n products of independent normals is normal, with standard deviation 1 / sqrt(n).
TEST(Normal, SuccessiveDrawsAreUncorrelated) {
  Generator generator = RandomStream(23).at(0, 0, Purpose::basis);
  double sum = 0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const double one = normal(generator);
    const double other = normal(generator);
    sum += one * other;
  }
  const double n = kDraws;
  EXPECT_LT(std::abs(sum / n), normal_critical(kAlarmRate) / std::sqrt(n));
}

class GammaOfShape : public testing::TestWithParam<double> {};

TEST_P(GammaOfShape, IsGamma) {
  const double shape = GetParam();
  const auto sample = draw_sorted([&](Generator& g) { return gamma(g, shape); }, 24);
  expect_distributed(sample, [&](double x) { return gamma_cdf(shape, x); });
}

INSTANTIATE_TEST_SUITE_P(Shapes, GammaOfShape,
                         testing::Values(0.05, 0.3, 0.5, 0.999, 1.0, 1.2, 3.7, 100.0, 1e3));

// The mean of n draws is normal, with standard deviation sqrt(shape / n). Ten times as many draws
// detect an error of 0.4 % in the shape, which the tests above do not.
TEST(Gamma, HasItsMean) {
  constexpr double kMany = 10 * kDraws;
  Generator generator = RandomStream(34).at(0, 0, Purpose::basis);
  double sum = 0;
  for (double i = 0; i < kMany; ++i) sum += gamma(generator, 1);
  EXPECT_NEAR(sum / kMany, 1, normal_critical(kAlarmRate) / std::sqrt(kMany));
}

// A gamma variable of large shape is normal up to a skewness of 2 / sqrt(shape), here 2e-6, which
// is far below what the sample can show.
TEST(Gamma, OfHugeShapeIsNormal) {
  constexpr double kShape = 1e12;
  const auto sample = draw_sorted([](Generator& g) { return gamma(g, kShape); }, 25);
  expect_distributed(sample, [](double x) { return normal_cdf((x - kShape) / std::sqrt(kShape)); });
}

TEST(Gamma, OfTinyShapeIsZeroOrMoreButNeverNaN) {
  Generator generator = RandomStream(26).at(0, 0, Purpose::basis);
  for (const double shape : {1e-3, 1e-10, 1e-300, std::numeric_limits<double>::denorm_min()}) {
    for (int i = 0; i < 1000; ++i) {
      const double x = gamma(generator, shape);
      EXPECT_TRUE(x >= 0 && x < kInfinity) << "shape " << shape << " gives " << x;
    }
  }
}

// Near 0 the distribution function is x^shape / Γ(shape + 1), with relative error x. The number of
// draws below x is binomial, with standard deviation sqrt(n p (1 - p)).
TEST(Gamma, OfTinyShapeHasTheRightMassNearZero) {
  constexpr double kShape = 1e-3;
  const auto sample = draw_sorted([](Generator& g) { return gamma(g, kShape); }, 27);
  const double n = kDraws;
  for (const double x : {1e-300, 1e-200, 1e-100, 1e-20}) {
    const double p = std::pow(x, kShape) / std::tgamma(kShape + 1);
    const double below = count_in_cells(sample, {x})[0];
    EXPECT_LT(std::abs(below - n * p), normal_critical(kAlarmRate) * std::sqrt(n * p * (1 - p)));
  }
  // The rate of zeros that the header states: draws below the smallest double.
  const double zeros = count_in_cells(sample, {0})[0];
  EXPECT_NEAR(zeros / n, std::exp(-745 * kShape), 0.01);
}

double poisson_probability(double k, double mean) {
  return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
}

struct Cells {
  std::vector<double> edges;
  std::vector<double> expected;
};

// Groups neighbouring values into cells: 1/200 of the draws each in the middle, narrower towards
// both ends, but none that expects fewer than 20 draws. The last cell is unbounded. The probability
// beyond 12 standard deviations changes no expectation.
Cells poisson_cells(double mean) {
  constexpr double kFewest = 20;
  const double n = kDraws;
  const double reach = 12 * std::sqrt(mean) + 20;
  Cells cells;
  double above = n;
  double sum = 0;
  for (double k = std::max(0.0, std::floor(mean - reach)); k < mean + reach; ++k) {
    sum += n * poisson_probability(k, mean);
    if (above - sum < kFewest) break;
    if (sum < std::clamp(std::min(n - above, above) / 4, kFewest, n / 200)) continue;
    cells.edges.push_back(k);
    cells.expected.push_back(sum);
    above -= sum;
    sum = 0;
  }
  cells.expected.push_back(above);
  return cells;
}

class PoissonOfMean : public testing::TestWithParam<double> {};

TEST_P(PoissonOfMean, IsPoisson) {
  const double mean = GetParam();
  const auto sample = draw_sorted([&](Generator& g) { return poisson(g, mean); }, 28);
  const Cells cells = poisson_cells(mean);
  EXPECT_LT(chi_square_statistic(count_in_cells(sample, cells.edges), cells.expected),
            chi_square_critical(static_cast<double>(cells.edges.size()), kAlarmRate));
  for (const double k : sample) ASSERT_TRUE(k >= 0 && k == std::floor(k)) << k;
}

INSTANTIATE_TEST_SUITE_P(Means, PoissonOfMean,
                         testing::Values(0.01, 0.7, 5.0, 9.99, 10.0, 11.3, 37.5, 1e3, 1e6));

// A Poisson variable of large mean is normal up to a skewness of 1 / sqrt(mean), below 4e-5 here,
// and a continuity correction of 1/2. The sum of n draws is normal, and so is the sum of their
// squared deviations, each of variance 2 mean^2.
TEST(Poisson, OfHugeMeanIsNormal) {
  const double n = kDraws;
  const double z = normal_critical(kAlarmRate);
  for (const double mean : {1e9, 1e12}) {
    const auto sample = draw_sorted([&](Generator& g) { return poisson(g, mean); }, 29);
    double sum = 0;
    double squares = 0;
    for (const double k : sample) {
      sum += k - mean;
      squares += (k - mean) * (k - mean) / mean;
    }
    EXPECT_LT(std::abs(sum), z * std::sqrt(n * mean)) << "mean " << mean;
    EXPECT_LT(std::abs(squares - n), z * std::sqrt(2 * n)) << "mean " << mean;
    expect_distributed(sample,
                       [&](double k) { return normal_cdf((k + 0.5 - mean) / std::sqrt(mean)); });
  }
}

TEST(Poisson, OfMeanZeroIsZero) {
  Generator generator = RandomStream(30).at(0, 0, Purpose::basis);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(poisson(generator, 0), 0);
}

TEST(Poisson, TakesTheLargestMean) {
  Generator generator = RandomStream(30).at(0, 0, Purpose::basis);
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(poisson(generator, kLargest), kLargest);
}

// The accuracy that the header states.
double log_poisson_tolerance(double mean) { return 1e-12 + 1e-14 * std::sqrt(mean); }

// In extended precision the plain formula is accurate to within the tolerance up to this mean.
TEST(LogPoissonProbability, IsThePlainFormula) {
  for (const double mean : {1e-3, 0.7, 9.99, 10.0, 37.5, 1e3, 1e6}) {
    for (const double deviations : {-5.0, -2.0, -0.3, 0.0, 0.4, 3.0, 8.0}) {
      const double k = std::max(0.0, std::floor(mean + deviations * std::sqrt(mean)));
      const auto m = static_cast<long double>(mean);
      const auto truth = static_cast<double>(k * std::log(m) - m - std::lgamma(k + 1.0L));
      EXPECT_NEAR(log_poisson_probability(k, mean), truth, log_poisson_tolerance(mean))
          << "mean " << mean << ", k " << k;
    }
  }
}

// Computed with 50 digits.
TEST(LogPoissonProbability, AgreesWithHighPrecision) {
  struct Value {
    double k, mean, log_probability;
  };
  const std::vector<Value> values = {
      {999800000, 1e9, -31.281804908442564},     {1000000000, 1e9, -11.280571451761212},
      {1000300007, 1e9, -56.278321817198798},    {999995000000, 1e12, -27.234467424548197},
      {1000000000000, 1e12, -14.73444909116903}, {1000009000001, 1e12, -55.234341091656028}};
  for (const auto& [k, mean, truth] : values) {
    EXPECT_NEAR(log_poisson_probability(k, mean), truth, log_poisson_tolerance(mean));
  }
}

TEST(PoissonQuantile, InvertsTheDistributionFunction) {
  for (const double mean : {0.01, 0.7, 5.0, 9.99}) {
    for (double k = 0; k < 40; ++k) {
      const double cdf = gamma_tail(k + 1, mean);
      if (cdf > 1 - 1e-12) break;
      EXPECT_EQ(poisson_quantile(cdf * (1 - 1e-13), mean), k);
      EXPECT_EQ(poisson_quantile(cdf * (1 + 1e-13), mean), k + 1);
    }
  }
}

// The cumulative probabilities may end below the largest uniform number. The search must still
// stop, at a value about as unlikely as that number.
TEST(PoissonQuantile, StopsAtTheEnds) {
  for (const double mean : {0.0, 1e-300, 1e-16, 1e-3, 0.7, 5.0, 9.99, 37.5, 700.0}) {
    EXPECT_EQ(poisson_quantile(0x1p-53, mean) > 0, mean > 37) << "mean " << mean;
    for (const double uniform : {kLargestUniform, 1.0}) {
      const double k = poisson_quantile(uniform, mean);
      EXPECT_LT(k, mean + 9 * std::sqrt(mean) + 30) << "mean " << mean;
      EXPECT_LT(mean == 0 ? 0 : poisson_probability(k + 1, mean), 1e-14) << "mean " << mean;
    }
  }
}

TEST(Categorical, FollowsItsWeights) {
  const std::vector<double> weights = {0, 3, 0.5, 0, 2e-3, 8, 2, 0};
  Generator generator = RandomStream(31).at(0, 0, Purpose::resampling);
  std::vector<double> counts(weights.size());
  for (std::size_t i = 0; i < kDraws; ++i) ++counts[categorical(generator, weights)];
  std::vector<double> observed;
  std::vector<double> expected;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) {
      EXPECT_EQ(counts[i], 0);
      continue;
    }
    observed.push_back(counts[i]);
    expected.push_back(weights[i] / 13.502 * static_cast<double>(kDraws));
  }
  EXPECT_LT(chi_square_statistic(observed, expected),
            chi_square_critical(static_cast<double>(observed.size() - 1), kAlarmRate));
}

TEST(Categorical, OfOneWeightIsThatOne) {
  Generator generator = RandomStream(32).at(0, 0, Purpose::resampling);
  for (const double weight : {1.0, 1e-300, std::numeric_limits<double>::denorm_min(), 1e308}) {
    EXPECT_EQ(categorical(generator, std::vector{weight}), 0U);
    EXPECT_EQ(categorical(generator, std::vector{0.0, weight, 0.0}), 1U);
  }
}

TEST(CategoricalQuantile, NeverReturnsAZeroWeightAtEitherEnd) {
  const std::vector<double> weights = {0, 0, 0.25, 0, 0.75, 0, 0};
  EXPECT_EQ(categorical_quantile(0, weights), 2U);
  EXPECT_EQ(categorical_quantile(0x1p-53, weights), 2U);
  EXPECT_EQ(categorical_quantile(0.25, weights), 4U);
  EXPECT_EQ(categorical_quantile(kLargestUniform, weights), 4U);
  EXPECT_EQ(categorical_quantile(1, weights), 4U);
}

TEST(CategoricalQuantile, TakesSumsJustBelowAndJustAboveOne) {
  std::vector<double> below(10, 0.1);
  below.push_back(0);
  ASSERT_LT(std::accumulate(below.begin(), below.end(), 0.0), 1);
  EXPECT_EQ(categorical_quantile(kLargestUniform, below), 9U);
  EXPECT_EQ(categorical_quantile(1, below), 9U);
  const std::vector<double> above = {0.3333333333333334, 0.3333333333333334, 0.3333333333333334, 0};
  ASSERT_GT(std::accumulate(above.begin(), above.end(), 0.0), 1);
  EXPECT_EQ(categorical_quantile(kLargestUniform, above), 2U);
  EXPECT_EQ(categorical_quantile(1, above), 2U);
}

TEST(Distributions, RefuseParametersOutOfRange) {
  Generator generator = RandomStream(33).at(0, 0, Purpose::basis);
  for (const double bad : {-1.0, kInfinity, kNaN}) {
    EXPECT_THROW(gamma(generator, bad), UsageError);
    EXPECT_THROW(poisson(generator, bad), UsageError);
    EXPECT_THROW(categorical(generator, std::vector{1.0, bad}), UsageError);
  }
  EXPECT_THROW(gamma(generator, 0), UsageError);
  EXPECT_THROW(categorical(generator, std::vector{0.0, 0.0}), UsageError);
  EXPECT_THROW(categorical(generator, {}), UsageError);
}

TEST(Distributions, SayWhatTheyRefuse) {
  Generator generator = RandomStream(33).at(0, 0, Purpose::basis);
  try {
    poisson(generator, -2);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "poisson: the mean is -2; expected a number >= 0");
  }
}

// Four successive draws, bit for bit.
using Draws = std::array<double, 4>;

Draws first_draws(const Sampler& sampler) {
  Generator generator = RandomStream(1).at(2, 3, Purpose::transition);
  Draws draws;
  for (double& x : draws) x = sampler(generator);
  return draws;
}

// A change here changes the results of every user: seeds no longer reproduce earlier runs. The
// values hold for glibc, with or without fused multiply-add.
TEST(Distributions, KeepTheirBits) {
  const auto uniform = [](Generator& g) { return g.uniform(); };
  const auto small_gamma = [](Generator& g) { return gamma(g, 0.3); };
  const auto large_gamma = [](Generator& g) { return gamma(g, 3.7); };
  const auto small_poisson = [](Generator& g) { return poisson(g, 4.2); };
  const auto large_poisson = [](Generator& g) { return poisson(g, 1e9); };
  const auto category = [](Generator& g) {
    return static_cast<double>(categorical(g, std::array{0.1, 0.2, 0.3, 0.4}));
  };
  EXPECT_EQ(first_draws(uniform), (Draws{0x1.98ef8d93d2e12p-2, 0x1.1040f5eef82dfp-1,
                                         0x1.92f7932a36358p-4, 0x1.304907ad2e397p-1}));
  EXPECT_EQ(first_draws(exponential), (Draws{0x1.d5f8ca40cd653p-1, 0x1.435fc65fcf516p-1,
                                             0x1.28d215a68bd8dp+1, 0x1.0a6c7d7c42c33p-1}));
  EXPECT_EQ(first_draws(normal), (Draws{-0x1.53fbefa8630cep+0, -0x1.c952daca62c23p+0,
                                        0x1.ad9fba52f26f1p-7, -0x1.cd247099f6c7fp-2}));
  EXPECT_EQ(first_draws(small_gamma), (Draws{0x1.d063c191bb85cp-6, 0x1.001fa13884b42p-5,
                                             0x1.f76693c1a1199p-16, 0x1.b5fba2e815effp-3}));
  EXPECT_EQ(first_draws(large_gamma), (Draws{0x1.787340e95b7e2p+0, 0x1.f306288db1cf8p+0,
                                             0x1.4d959ec3f5b41p+1, 0x1.57abd316624c8p+2}));
  EXPECT_EQ(first_draws(small_poisson), (Draws{4, 4, 2, 5}));
  EXPECT_EQ(first_draws(large_poisson), (Draws{999990946, 999951649, 999993542, 1000025806}));
  EXPECT_EQ(first_draws(category), (Draws{2, 2, 0, 2}));
}

}  // namespace
}  // namespace headwater
