#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/models/any_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/reference/prior_draws.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

using reference::draw;
using reference::moments_of;
using reference::move_on;
using reference::parameter;
using reference::statistics;

// Chance that a right M-step fails one check by simulation, were the seed drawn at random.
constexpr double kAlarmRate = 1e-6;

struct Setting {
  double shape, persistence;
};

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

}  // namespace
}  // namespace headwater
