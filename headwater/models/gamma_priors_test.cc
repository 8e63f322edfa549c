#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headwater/core/error.hpp"
#include "headwater/models/any_prior.hpp"
#include "headwater/models/conformance.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/random/distributions.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;

// Chance that a right prior fails one check by simulation, were the seed drawn at random.
constexpr double kAlarmRate = 1e-6;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Setting {
  double shape, persistence;
};
const std::vector<Setting> kSettings = {{0.05, 0.5}, {0.3, 0.9}, {1, 0.2},
                                        {1, 0.99},   {2.5, 0.8}, {40, 0.6}};

double parameter(const AnyPrior& prior, const char* name, Index entry = 0) {
  const Parameters parameters = prior.parameters();
  return find_parameter(parameters, name)->value(entry);
}

// Draws of the state after so many moves, one row a particle.
Matrix draw(const AnyPrior& prior, Index particles, int moves) {
  const RandomStream random(2026);
  Matrix now(particles, prior.state_size());
  Matrix next = now;
  prior.sample_initial({random, 1, 0, Purpose::initial_state}, now);
  for (int t = 0; t < moves; ++t) {
    prior.sample_transition({random, static_cast<std::uint64_t>(t) + 2, 0, Purpose::transition},
                            now, next);
    now.swap(next);
  }
  return now;
}

Matrix move_on(const AnyPrior& prior, const Matrix& previous) {
  Matrix next(previous.rows(), previous.cols());
  prior.sample_transition({RandomStream(7), 99, 0, Purpose::transition}, previous, next);
  return next;
}

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

Vector statistics(const AnyPrior& prior, const Matrix& previous, const Matrix& next) {
  Vector sums = Vector::Zero(prior.num_statistics());
  prior.add_statistics(previous, next, Vector::Ones(next.rows()), as_span(sums));
  return sums;
}

double log_gamma_law(double x, double shape, double rate) {
  return shape * std::log(rate) + (shape - 1) * std::log(x) - rate * x - std::lgamma(shape);
}

struct Moments {
  double mean, standard_error;
};
Moments moments_of(const Vector& sample) {
  const auto n = static_cast<double>(sample.size());
  const double variance = (sample.array() - sample.mean()).square().sum() / (n - 1);
  return {sample.mean(), std::sqrt(variance / n)};
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
  EXPECT_LT(distance, reference::kolmogorov_smirnov_critical(sample.size(), kAlarmRate))
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

// (x - 1)(x' - 1) shape has the mean persistence: the stationary variance is 1 / shape.
TEST(GammaPrior, PersistenceIsTheCorrelationOfNeighbours) {
  for (const auto& [shape, persistence] : kSettings) {
    const AnyPrior prior(GammaPrior(1, shape, persistence));
    const Matrix previous = draw(prior, 100000, 0);
    const Matrix next = move_on(prior, previous);
    const Moments correlation =
        moments_of(((previous.array() - 1) * (next.array() - 1) * shape).matrix());
    EXPECT_NEAR(correlation.mean, persistence,
                reference::normal_critical(kAlarmRate) * correlation.standard_error);
  }
}

TEST(GammaPrior, DrawsFollowTheDensity) {
  // P(x <= c | x') by the density against the share of draws.
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
      EXPECT_NEAR(share, probability, reference::normal_critical(kAlarmRate) * error + 1e-6);
    }
  }
}

// The trapezoidal rule in log x, which for such integrands is exact but for rounding.
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

// sum over h of weight(h) Poisson(h; beta x') Gamma(x; shape + h, r)
template <class Weight>
double mixture(const Setting& setting, double previous, double next, Weight weight) {
  const double rate = setting.shape / (1 - setting.persistence);
  const double mean = setting.persistence * rate * previous;
  double sum = 0;
  for (int h = 0; h < 4000; ++h) {
    sum += weight(h) * std::exp(-mean + h * std::log(mean) - std::lgamma(h + 1.0) +
                                log_gamma_law(next, setting.shape + h, rate));
  }
  return sum;
}

TEST(GammaPrior, DensityAndExpectedCountAreThoseOfTheMixture) {
  for (const Setting& setting : kSettings) {
    const AnyPrior prior(GammaPrior(1, setting.shape, setting.persistence));
    for (const double previous : {1e-6, 0.1, 1.0, 6.0}) {
      for (const double next : {1e-6, 0.2, 1.0, 5.0}) {
        const double density = mixture(setting, previous, next, [](int) { return 1.0; });
        if (density < 1e-200) continue;  // the sum has underflown
        EXPECT_NEAR(log_density(prior, previous, next), std::log(density), 1e-9);
        const double h = mixture(setting, previous, next, [](int i) { return i; }) / density;
        const Vector sums =
            statistics(prior, Matrix::Constant(1, 1, previous), Matrix::Constant(1, 1, next));
        EXPECT_NEAR(sums[1], h, 1e-9 * h);
        EXPECT_THAT(sums, ElementsAre(1, sums[1], previous, next, next * next));
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
    // Where no count at all is best, the state 0 attains it.
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

// One M-step at the truth stays there. The errors are the asymptotic ones: of a shape by moments
// sqrt(2 a (a + 1) / n); of the persistence,
// 1 - q at the root q of a quadratic in the means of h and x + x', by the delta method.
TEST(GammaPrior, MStepFindsTheParametersAgain) {
  constexpr Index kMoves = 200000;
  const double critical = reference::normal_critical(kAlarmRate);
  for (const auto& [shape, persistence] : {Setting{0.5, 0.7}, Setting{2.5, 0.8}, {10, 0.3}}) {
    AnyPrior prior(GammaPrior(1, shape, persistence));
    const Matrix previous = draw(prior, kMoves, 0);
    const Matrix next = move_on(prior, previous);
    Vector count(kMoves);
    for (Index i = 0; i < kMoves; ++i) {
      count[i] = statistics(prior, previous.row(i), next.row(i))[1];
    }
    const double h = count.mean();
    const double q = 1 - persistence;
    const double by_q = 2 * (shape + h) * q - (shape + 2 * h + 2 * shape);
    const Vector influence =
        (q * (q - 2) * count.array() + shape * (1 - q) * (previous.col(0) + next.col(0)).array()) /
        by_q;
    prior.maximise(as_span(statistics(prior, previous, next)));
    EXPECT_NEAR(parameter(prior, "persistence"), persistence,
                critical * moments_of(influence).standard_error);
    EXPECT_NEAR(parameter(prior, "shape"), shape,
                critical * std::sqrt(2 * shape * (shape + 1) / double(kMoves)));
  }
}

// From either side, and also where the activations' mean is not quite 1, which moves the limit by
// no more than 0.02 in the persistence. The shape has a standard error of sqrt(2 a (a + 1) / n).
TEST(GammaPrior, EMGoesToTheTruth) {
  constexpr Index kMoves = 3000;
  const AnyPrior truth(GammaPrior(1, 2, 0.8));
  const Matrix previous = draw(truth, kMoves, 0);
  const Matrix next = move_on(truth, previous);
  const double critical = reference::normal_critical(kAlarmRate);
  for (const double scale : {0.9, 1.0, 1.1}) {
    std::vector<double> ends;
    for (const auto& [shape, persistence] : {Setting{0.3, 0.05}, Setting{20, 0.9}}) {
      AnyPrior prior(GammaPrior(1, shape, persistence));
      for (int i = 0; i < 400; ++i) {
        prior.maximise(as_span(statistics(prior, scale * previous, scale * next)));
      }
      EXPECT_NEAR(parameter(prior, "persistence"), 0.8, 0.04);
      EXPECT_NEAR(parameter(prior, "shape"), 2, critical * std::sqrt(12.0 / double(kMoves)));
      ends.push_back(parameter(prior, "persistence"));
    }
    EXPECT_NEAR(ends[0], ends[1], 1e-3);
  }
}

TEST(GammaPrior, MStepTakesSharedAndOwnParameters) {
  // n, sum of h, x', x, x^2 of two components, the second of a scale ten times the first's
  const std::vector<double> sums = {4, 6, 4, 5, 10, 4, 2, 40, 40, 600};
  AnyPrior own(GammaPrior(2, Vector::Constant(2, 1.0), Vector::Constant(2, 0.5)));
  own.maximise(sums);
  EXPECT_DOUBLE_EQ(parameter(own, "shape", 0), 1 / (10 * 4 / 25.0 - 1));
  EXPECT_DOUBLE_EQ(parameter(own, "shape", 1), 1 / (600 * 4 / 1600.0 - 1));
  AnyPrior shared(GammaPrior(2, 1, 0.5));
  shared.maximise(sums);
  EXPECT_DOUBLE_EQ(parameter(shared, "shape"), 2 / (0.6 + 0.5));

  // sum of h log beta - beta x' + (shape + h) log r - r x, with shape 1
  const auto expected = [&](Index k, double persistence) {
    const double* s = &sums[static_cast<std::size_t>(5 * k)];
    const double rate = 1 / (1 - persistence);
    const double beta = persistence * rate;
    return s[1] * std::log(beta) - beta * s[2] + (s[0] + s[1]) * std::log(rate) - rate * s[3];
  };
  for (const double factor : {0.999, 1.001}) {
    double best = 0;
    double other = 0;
    for (const Index k : {0, 1}) {
      const double persistence = parameter(own, "persistence", k);
      EXPECT_GT(expected(k, persistence), expected(k, factor * persistence));
      best += expected(k, parameter(shared, "persistence"));
      other += expected(k, factor * parameter(shared, "persistence"));
    }
    EXPECT_GT(best, other);
  }
}

TEST(GammaPrior, MStepStaysInsideAndKeepsWhatItKnowsNothingOf) {
  AnyPrior prior(GammaPrior(1, 2, 0.6));
  prior.maximise(std::vector<double>{0, 0, 0, 0, 0});
  prior.maximise(std::vector<double>{1, 0, 0, 0, 0});
  EXPECT_EQ(parameter(prior, "shape"), 2);
  EXPECT_EQ(parameter(prior, "persistence"), 0.6);
  prior.maximise(std::vector<double>{1, 0, 1, 1, 1});  // no spread, no counts
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1e3);
  EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), 1e-6);
  prior.maximise(std::vector<double>{1, 1e12, 1, 1, 1e9});
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1e-3);
  EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), 1 - 1e-6);
}

// The standard error of the maximum of the likelihood is less than that of a shape by moments,
// sqrt(2 a (a + 1) / n), which is taken here.
TEST(IndependentPrior, MStepFindsTheShapeAgain) {
  constexpr Index kDraws = 200000;
  for (const double shape : {0.05, 0.5, 3.0, 50.0}) {
    AnyPrior prior(IndependentPrior(1, 1.0));
    const Matrix x = draw(AnyPrior(IndependentPrior(1, shape)), kDraws, 0);
    prior.maximise(as_span(statistics(prior, x, 3.7 * x)));  // whatever the scale
    EXPECT_NEAR(parameter(prior, "shape"), shape,
                reference::normal_critical(kAlarmRate) *
                    std::sqrt(2 * shape * (shape + 1) / double(kDraws)));
  }
}

// The M-step is a maximum of the likelihood of x / mean.
TEST(IndependentPrior, MStepIsAMaximum) {
  Matrix x = draw(AnyPrior(IndependentPrior(2, 1.5)), 500, 0);
  for (Index k = 0; k < 2; ++k) x.col(k) /= x.col(k).mean();
  AnyPrior prior(IndependentPrior(2, 30.0));
  prior.maximise(as_span(statistics(prior, x, x)));
  const auto likelihood = [&](double shape) {
    Vector out(x.rows());
    AnyPrior(IndependentPrior(2, shape)).log_transition(x, x, out);
    return out.sum();
  };
  const double best = parameter(prior, "shape");
  EXPECT_GT(likelihood(best), likelihood(best * 1.001));
  EXPECT_GT(likelihood(best), likelihood(best * 0.999));
}

TEST(IndependentPrior, MStepStaysInsideAndKeepsWhatItKnowsNothingOf) {
  AnyPrior prior(IndependentPrior(1, 2));
  prior.maximise(std::vector<double>{0, 0, 0});
  EXPECT_EQ(parameter(prior, "shape"), 2);
  prior.maximise(std::vector<double>{1, 1, 0});
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1e3);
  prior.maximise(std::vector<double>{1, 1, -1e7});
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1e-3);
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
  for (const double shape : {1e-12, 1e-3, 0.1, 1.0, 2.0, 1e3}) {
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
            EXPECT_TRUE(std::isfinite(parameter(learned, "shape")));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headwater
