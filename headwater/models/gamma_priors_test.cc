#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/conformance.hpp"
#include "headwater/core/test_numbers.hpp"
#include "headwater/error.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/prior_draws.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

using reference::draw;
using reference::moments_of;
using reference::move_on;
using reference::statistics;
using testing::ElementsAre;

// The probability that a correct prior fails one simulation check, over random seeds.
constexpr double kPriorAlarmRate = 1e-6;

struct PriorSetting {
  double shape, persistence;
};
const std::vector<PriorSetting> kSettings = {{0.05, 0.5}, {0.3, 0.9}, {1, 0.2},
                                             {1, 0.99},   {2.5, 0.8}, {40, 0.6}};

double log_density(const AnyPrior& prior, double previous, double next) {
  Vector out(1);
  prior.log_transition(Matrix::Constant(1, 1, previous), Matrix::Constant(1, 1, next), out);
  return out[0];
}

double log_bound(const AnyPrior& prior, double next) {
  Vector out(1);
  prior.log_transition_bound(Matrix::Constant(1, 1, next), out);
  return out[0];
}

double log_gamma_law(double x, double shape, double rate) {
  return shape * std::log(rate) + (shape - 1) * std::log(x) - rate * x - std::lgamma(shape);
}

// Numbers from far below to far above the stationary mean.
std::vector<double> grid() {
  std::vector<double> values;
  for (double x = 1e-12; x < 100; x *= 3.1) values.push_back(x);
  return values;
}

TEST(GammaPriors, Conform) {
  const Vector shapes = (Vector(3) << 0.3, 1, 20).finished();
  const Vector persistences = (Vector(3) << 0.1, 0.5, 0.95).finished();
  for (const AnyPrior& prior :
       {AnyPrior(GammaPrior(4, 2, 0.9)), AnyPrior(GammaPrior(3, shapes, persistences)),
        AnyPrior(GammaPrior(1, 1e-3, 0.5)), AnyPrior(GammaPrior(1, 1e3, 1 - 1e-6)),
        AnyPrior(IndependentPrior(4, 2)), AnyPrior(IndependentPrior(3, shapes)),
        AnyPrior(IndependentPrior(1, 1e-3))}) {
    EXPECT_THAT(check_prior(prior).findings, ElementsAre()) << prior.name();
    EXPECT_TRUE(prior.has_density() && prior.has_bound() && prior.is_learnable());
  }
}

void expect_stationary_law(const AnyPrior& prior, double shape, int moves) {
  const Matrix x = draw(prior, 20000, moves);
  std::vector<double> sample(x.data(), x.data() + x.size());
  std::sort(sample.begin(), sample.end());
  const double distance = reference::kolmogorov_statistic(
      sample, [&](double value) { return reference::gamma_cdf(shape, shape * value); });
  EXPECT_LT(distance, reference::kolmogorov_smirnov_critical(sample.size(), kPriorAlarmRate))
      << prior.name() << ' ' << shape << ' ' << moves;
}

TEST(GammaPriors, StayInTheGammaLawOfMeanOne) {
  for (const auto& [shape, persistence] : kSettings) {
    for (const int moves : {0, 1, 5}) {
      expect_stationary_law(AnyPrior(GammaPrior(1, shape, persistence)), shape, moves);
      expect_stationary_law(AnyPrior(IndependentPrior(1, shape)), shape, moves);
    }
  }
}

// E[(x - 1)(x' - 1)] shape = persistence, because the stationary variance is 1 / shape.
TEST(GammaPrior, PersistenceIsTheCorrelationOfNeighbours) {
  for (const auto& [shape, persistence] : kSettings) {
    const AnyPrior prior(GammaPrior(1, shape, persistence));
    const Matrix previous = draw(prior, 100000, 0);
    const Matrix next = move_on(prior, previous);
    const reference::Moments correlation =
        moments_of(((previous.array() - 1) * (next.array() - 1) * shape).matrix());
    EXPECT_NEAR(correlation.mean, persistence,
                reference::normal_critical(kPriorAlarmRate) * correlation.standard_error);
  }
}

TEST(GammaPrior, DrawsFollowTheDensity) {
  // Compares P(x <= c | x') by the density with the fraction of draws.
  const AnyPrior prior(GammaPrior(1, 0.7, 0.8));
  constexpr Index kDraws = 100000;
  for (const double previous : {0.01, 1.0, 4.0}) {
    const Matrix next = move_on(prior, Matrix::Constant(kDraws, 1, previous));
    for (const double cut : {0.05, 0.5, 3.0}) {
      double probability = 0;
      constexpr double kStep = 1e-3;
      for (double t = std::log(cut) - kStep / 2; t > -60; t -= kStep) {
        probability += kStep * std::exp(log_density(prior, previous, std::exp(t)) + t);
      }
      const double share = (next.array() <= cut).cast<double>().mean();
      const double error = std::sqrt(probability * (1 - probability) / double(kDraws));
      EXPECT_NEAR(share, probability, reference::normal_critical(kPriorAlarmRate) * error + 1e-6);
    }
  }
}

// The trapezoidal rule in log x, which for such integrands is exact up to rounding.
double integral_of_density(const AnyPrior& prior, double previous) {
  constexpr double kFrom = -600;
  constexpr double kTo = 7;
  constexpr double kStep = 0.01;
  const auto points = static_cast<Index>((kTo - kFrom) / kStep);
  const Vector log_x = Vector::LinSpaced(points, kFrom, kFrom + kStep * double(points - 1));
  const Matrix x = log_x.array().exp();
  Vector log_density(points);
  prior.log_transition(Matrix::Constant(1, 1, previous), x, log_density);
  return kStep * (log_density + log_x).array().exp().sum();
}

TEST(GammaPriors, DensitiesIntegrateToOne) {
  for (const auto& [shape, persistence] : kSettings) {
    // With shape 0.05, 3e-13 of the mass is below exp(-600).
    for (const double previous : {0.0, 1e-300, 1e-9, 0.1, 1.0, 3.0, 20.0}) {
      EXPECT_NEAR(integral_of_density(AnyPrior(GammaPrior(1, shape, persistence)), previous), 1,
                  1e-9)
          << shape << ' ' << persistence << ' ' << previous;
      EXPECT_NEAR(integral_of_density(AnyPrior(IndependentPrior(1, shape)), previous), 1, 1e-9);
    }
  }
}

TEST(GammaPrior, IsInDetailedBalance) {
  for (const auto& [shape, persistence] : kSettings) {
    const AnyPrior prior(GammaPrior(1, shape, persistence));
    for (const double x : grid()) {
      for (const double y : grid()) {
        const double there = log_gamma_law(x, shape, shape) + log_density(prior, x, y);
        const double back = log_gamma_law(y, shape, shape) + log_density(prior, y, x);
        EXPECT_NEAR(there, back, 1e-10 + 1e-13 * std::abs(there)) << shape << ' ' << x << ' ' << y;
      }
    }
  }
}

// sum over h of Poisson(h; beta x') Gamma(x; shape + h, r)
double mixture(const PriorSetting& setting, double previous, double next) {
  const double rate = setting.shape / (1 - setting.persistence);
  const double mean = setting.persistence * rate * previous;
  double sum = 0;
  for (int h = 0; h < 4000; ++h) {
    sum += std::exp(-mean + h * std::log(mean) - std::lgamma(h + 1.0) +
                    log_gamma_law(next, setting.shape + h, rate));
  }
  return sum;
}

TEST(GammaPrior, DensityIsThatOfTheMixture) {
  for (const PriorSetting& setting : kSettings) {
    const AnyPrior prior(GammaPrior(1, setting.shape, setting.persistence));
    for (const double previous : {1e-6, 0.1, 1.0, 6.0}) {
      for (const double next : {1e-6, 0.2, 1.0, 5.0}) {
        const double density = mixture(setting, previous, next);
        if (density < 1e-200) continue;  // the sum has underflowed
        EXPECT_NEAR(log_density(prior, previous, next), std::log(density), 1e-9);
      }
    }
  }
}

TEST(GammaPriors, BoundsBound) {
  for (const auto& [shape, persistence] : kSettings) {
    const AnyPrior gamma_prior(GammaPrior(1, shape, persistence));
    const AnyPrior independent(IndependentPrior(1, shape));
    for (const double next : grid()) {
      const double bound = log_bound(gamma_prior, next);
      double largest = log_density(gamma_prior, 0, next);
      for (const double previous : grid()) {
        largest = std::max(largest, log_density(gamma_prior, previous, next));
        EXPECT_EQ(log_bound(independent, next), log_density(independent, previous, next));
      }
      EXPECT_LE(largest, bound) << shape << ' ' << persistence << ' ' << next;
    }
    // If h = 0 gives the largest density, the state 0 attains the bound.
    const double small = 0.5 * (1 - persistence);
    EXPECT_NEAR(log_bound(gamma_prior, small), log_density(gamma_prior, 0, small), 1e-8);
  }
}

TEST(GammaPriors, PairASingleRowWithEveryRow) {
  const Matrix many = (Matrix(3, 2) << 0.1, 2, 1, 0.5, 3, 0.01).finished();
  const Matrix one = (Matrix(1, 2) << 0.7, 1.5).finished();
  const Vector weights = (Vector(3) << 0.2, 0.5, 0.3).finished();
  for (const AnyPrior& prior :
       {AnyPrior(GammaPrior(2, 2, 0.6)), AnyPrior(IndependentPrior(2, 2))}) {
    Vector paired(3);
    Vector single(3);
    Vector sums = Vector::Zero(prior.num_statistics());
    Vector other = sums;
    for (const bool before : {true, false}) {
      const Matrix copies = one.replicate(3, 1);
      prior.log_transition(before ? one : many, before ? many : one, single);
      prior.log_transition(before ? copies : many, before ? many : copies, paired);
      EXPECT_EQ(single, paired);
      prior.add_statistics(before ? one : many, before ? many : one, weights, as_span(sums));
      prior.add_statistics(before ? copies : many, before ? many : copies, weights, as_span(other));
      EXPECT_EQ(sums, other);
    }
  }
}

TEST(GammaPriors, RefuseParametersOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  AnyPrior gamma_prior(GammaPrior(3, 2, 0.5));
  AnyPrior independent(IndependentPrior(3, 2));
  for (const double bad : {0.0, -1.0, kInfinity, nan}) {
    EXPECT_THROW(gamma_prior.set_parameter(scalar_parameter("shape", bad)), UsageError);
    EXPECT_THROW(independent.set_parameter(scalar_parameter("shape", bad)), UsageError);
    EXPECT_THROW(GammaPrior(3, bad, 0.5), UsageError);
    EXPECT_THROW(IndependentPrior(3, bad), UsageError);
  }
  for (const double bad : {0.0, 1.0, -0.1, 1.5, nan}) {
    EXPECT_THROW(gamma_prior.set_parameter(scalar_parameter("persistence", bad)), UsageError);
    EXPECT_THROW(GammaPrior(3, 2, bad), UsageError);
  }
  for (const char* name : {"shape", "persistence"}) {
    EXPECT_THROW(gamma_prior.set_parameter({name, Matrix::Constant(2, 1, 0.5)}), UsageError);
    EXPECT_NO_THROW(gamma_prior.set_parameter({name, Matrix::Constant(3, 1, 0.5)}));
  }
  EXPECT_THROW(independent.set_parameter(scalar_parameter("persistence", 0.5)), UsageError);
  EXPECT_THROW(independent.set_parameter({"shape", Matrix::Constant(2, 1, 0.5)}), UsageError);
}

TEST(GammaPriors, StayFiniteWhereActivationsUnderflow) {
  const std::vector<double> values = {0, 5e-324, 1e-310, 1e-300, 1e-100, 1, 1e6, 1e12};
  for (const double shape : {1e-3, 0.1, 1.0, 2.0, 1e3, 1e6}) {
    for (const double persistence : {1e-6, 0.5, 1 - 1e-6}) {
      for (const AnyPrior& prior :
           {AnyPrior(GammaPrior(1, shape, persistence)), AnyPrior(IndependentPrior(1, shape))}) {
        for (const double next : values) {
          const double bound = log_bound(prior, next);
          EXPECT_TRUE(std::isfinite(bound)) << shape << ' ' << next;
          for (const double previous : values) {
            const double density = log_density(prior, previous, next);
            EXPECT_TRUE(std::isfinite(density)) << shape << ' ' << previous << ' ' << next;
            EXPECT_LE(density, bound) << shape << ' ' << previous << ' ' << next;
            const Vector sums =
                statistics(prior, Matrix::Constant(1, 1, previous), Matrix::Constant(1, 1, next));
            EXPECT_TRUE(sums.allFinite()) << shape << ' ' << previous << ' ' << next;
            AnyPrior learned = prior;
            learned.maximise(as_span(sums));
            for (const Parameter& found : learned.parameters()) {
              EXPECT_TRUE(found.value.allFinite()) << found.name << previous << ' ' << next;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headwater
