#include "headwater/emission/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "headwater/core/special.hpp"
#include "headwater/emission/negative_binomial.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

// By sums over a fine grid of the level e: integrals of g(e) Gamma(e; mean, variance).
double integral(double mean, double variance, const std::function<double(double)>& g) {
  const double shape = mean * mean / variance;
  const double rate = mean / variance;
  const double step = 1e-4;
  double sum = 0;
  for (double e = step / 2; e < 40; e += step) {
    sum += step * g(e) *
           std::exp(shape * std::log(rate) + (shape - 1) * std::log(e) - rate * e -
                    std::lgamma(shape));
  }
  return sum;
}

double poisson_probability(double y, double mean) {
  return std::exp(y * std::log(mean) - mean - std::lgamma(y + 1));
}

double variance_of(const LevelFilter& levels) {
  return levels.dispersion(0) * levels.means()[0] * levels.means()[0];
}

TEST(LevelFilter, ACountUpdatesTheLevelByBayesRule) {
  for (const double count : {0.0, 1.0, 7.0}) {
    LevelFilter levels(1);
    levels.predict(Vector::Constant(1, 0.6), 0.9);
    const double exposure = 0.5;
    const double intensity = 4;
    const auto likelihood = [&](double e) {
      return poisson_probability(count, exposure * intensity * e);
    };
    const double evidence = integral(1, 0.6, likelihood);
    const double mean = integral(1, 0.6, [&](double e) { return e * likelihood(e); }) / evidence;
    const double square =
        integral(1, 0.6, [&](double e) { return e * e * likelihood(e); }) / evidence;
    EXPECT_NEAR(levels.log_density(0, count, exposure, intensity) - log_factorial(count),
                std::log(evidence), 1e-6);
    levels.update(0, count, exposure, intensity);
    EXPECT_NEAR(levels.means()[0], mean, 1e-6);
    EXPECT_NEAR(variance_of(levels), square - mean * mean, 1e-6);
  }
}

TEST(LevelFilter, ThatThereIsACountUpdatesTheLevelByBayesRule) {
  for (const double count : {0.0, 1.0, 7.0}) {
    LevelFilter levels(1, Tells::kPresence);
    levels.predict(Vector::Constant(1, 0.6), 0.9);
    const double exposure = 0.5;
    const double intensity = 4;
    const auto likelihood = [&](double e) {
      const double silence = std::exp(-exposure * intensity * e);
      return count == 0 ? silence : 1 - silence;
    };
    const double evidence = integral(1, 0.6, likelihood);
    const double mean = integral(1, 0.6, [&](double e) { return e * likelihood(e); }) / evidence;
    const double square =
        integral(1, 0.6, [&](double e) { return e * e * likelihood(e); }) / evidence;
    EXPECT_NEAR(levels.log_density(0, count, exposure, intensity), std::log(evidence), 1e-6);
    levels.update(0, count, exposure, intensity);
    EXPECT_NEAR(levels.means()[0], mean, 1e-6);
    EXPECT_NEAR(variance_of(levels), square - mean * mean, 1e-6);
  }
}

// ARG(1) itself: given the level e before, the next one is Gamma(1 / phi + n, scale c), with a
// Poisson variable n of mean rho e / c and c = phi (1 - rho).
TEST(LevelFilter, APredictionHasTheMomentsOfTheChain) {
  const double phi = 0.6;
  const double rho = 0.7;
  LevelFilter levels(1);
  levels.predict(Vector::Constant(1, phi), rho);
  levels.update(0, 5, 1, 2);
  const double mean = levels.means()[0];
  const double variance = variance_of(levels);
  const double scale = phi * (1 - rho);
  const auto moment = [&](int power) {
    return integral(mean, variance, [&](double e) {
      double sum = 0;
      for (int n = 0; n < 60; ++n) {
        const double shape = 1 / phi + n;
        const double own = power == 1 ? scale * shape : scale * scale * shape * (shape + 1);
        sum += poisson_probability(n, rho * e / scale) * own;
      }
      return sum;
    });
  };
  levels.predict(Vector::Constant(1, phi), rho);
  EXPECT_NEAR(levels.means()[0], moment(1), 1e-5);
  EXPECT_NEAR(variance_of(levels), moment(2) - moment(1) * moment(1), 1e-5);
}

TEST(LevelFilter, UnseenLevelsReturnToTheStationaryLaw) {
  LevelFilter levels(1);
  const Vector phi = Vector::Constant(1, 0.3);
  levels.predict(phi, 0.8);
  EXPECT_EQ(levels.means()[0], 1);
  EXPECT_DOUBLE_EQ(levels.dispersion(0), 0.3);
  levels.update(0, 30, 1, 3);
  EXPECT_GT(levels.means()[0], 4);
  for (int t = 0; t < 200; ++t) levels.predict(phi, 0.8);
  EXPECT_NEAR(levels.means()[0], 1, 1e-12);
  EXPECT_NEAR(levels.dispersion(0), 0.3, 1e-12);
}

TEST(LevelFilter, WithoutDispersionEveryLevelIsOne) {
  LevelFilter levels(2);
  for (int t = 0; t < 3; ++t) {
    levels.predict(Vector::Zero(1), 0.9);
    levels.update(0, 50, 1, 2);
    EXPECT_EQ(levels.means()[0], 1);
    EXPECT_EQ(levels.dispersion(0), 0);
    EXPECT_NEAR(levels.log_density(0, 3, 1, 2) - log_factorial(3),
                std::log(poisson_probability(3, 2)), 1e-12);
  }
}

// Levels drawn from the chain, counts of known intensities: scoring finds dispersion and
// persistence. The information says how exactly: a normal estimate is farther than 4.5 standard
// errors from the truth once in 150,000 times, for each of the two. That the law of a level is
// taken to be a gamma law biases both by less than that.
void expect_drift_found(Tells tells, Index channels, Index length, const Vector& intensities) {
  const double phi = 0.5;
  const double rho = 0.9;
  Generator generator = RandomStream(3).at(1, 0, Purpose::observation);
  std::vector<Observation> record;
  Vector levels(channels);
  for (double& level : levels) level = phi * gamma(generator, 1 / phi);
  for (Index t = 0; t < length; ++t) {
    std::vector<double> counts;
    for (Index m = 0; m < channels; ++m) {
      const double scale = phi * (1 - rho);
      levels[m] = scale * gamma(generator, 1 / phi + poisson(generator, rho * levels[m] / scale));
      const double count = poisson(generator, levels[m] * intensities[m]);
      counts.push_back(tells == Tells::kCount ? count : std::min(count, 1.0));
    }
    record.emplace_back(counts);
  }
  NegativeBinomial law(Vector::Constant(1, 0.1), 0.5);
  Vector sums;
  for (int pass = 0; pass < 25; ++pass) {
    const DriftParameters now = drift_parameters(AnyLaw(law));
    DriftScores scores(channels, tells);
    for (Index t = 0; t < length; ++t) {
      scores.predict(now);
      scores.update(record[static_cast<std::size_t>(t)], intensities, now,
                    1 / static_cast<double>(t + 1));
    }
    sums = scores.averages();
    law.maximise(as_span(sums), static_cast<double>(length), {});
  }
  double information = 0;
  for (Index m = 0; m < channels; ++m) information += sums[2 * m + 1];
  const auto n = static_cast<double>(length);
  EXPECT_NEAR(law.dispersion(0), phi, 4.5 / std::sqrt(n * information));
  const double found = law.parameters()[1].value(0);
  const double odds_error = 4.5 / std::sqrt(n * sums[sums.size() - 1]);
  EXPECT_NEAR(std::log(found / (1 - found)), std::log(rho / (1 - rho)), odds_error);
  EXPECT_LT(odds_error, 0.5);
}

TEST(DriftScores, FindTheParametersThatLevelsWereDrawnWith) {
  expect_drift_found(Tells::kCount, 6, 3000, Vector{{0.5, 1.5, 2.5, 3.5, 4.5, 5.5}});
}

TEST(DriftScores, FindThemFromZerosAndOnes) {
  expect_drift_found(Tells::kPresence, 12, 6000, Vector::LinSpaced(12, 0.3, 1.5));
}

TEST(DriftScores, HeldParametersStay) {
  NegativeBinomial law(Vector::Constant(2, 0.1), 0.5);
  const std::vector<double> sums = {3, 1, 3, 1, 5, 1};
  law.maximise(sums, 100, {{"dispersion", NegativeBinomial::kPersistence}, true});
  EXPECT_EQ(law.dispersion(1), 0.1);
  EXPECT_EQ(law.parameters()[1].value(0), 0.5);
  law.maximise(sums, 100, {{"dispersion"}, true});
  EXPECT_EQ(law.dispersion(1), 0.1);
  EXPECT_GT(law.parameters()[1].value(0), 0.5);
}

}  // namespace
}  // namespace headwater
