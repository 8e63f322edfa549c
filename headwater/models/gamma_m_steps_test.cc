#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/any_prior.hpp"
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
using testing::ElementsAre;
using testing::ElementsAreArray;

// The probability that a correct M-step fails one simulation check, over random seeds.
constexpr double kMStepAlarmRate = 1e-6;

// Relative rounding error of a variance that is computed as a difference.
constexpr double kRounding = 1e-13;

struct Setting {
  double shape, persistence;
};

// Transitions of two components; the second has ten times the scale of the first. Relative to the
// means:
//   component  n  variance of x'  variance of x  their average  covariance
//   first      4  3/8             1/8            1/4            3/16
//   second     3  2/3             2/75           26/75          2/15
const Matrix kFirstBefore = (Matrix(4, 1) << 1, 1, 2, 4).finished();
const Matrix kFirstAfter = (Matrix(4, 1) << 1, 2, 2, 3).finished();
const Matrix kSecondBefore = (Matrix(3, 1) << 0, 20, 10).finished();
const Matrix kSecondAfter = (Matrix(3, 1) << 8, 12, 10).finished();
const std::vector<double> kFirst = {4, 8, 8, 22, 18, 19};
const std::vector<double> kSecond = {3, 30, 30, 500, 308, 340};
const std::vector<double> kNothing(6, 0.0);

std::vector<double> together(std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

AnyPrior with_own_parameters() {
  return AnyPrior(GammaPrior(2, Vector::Constant(2, 1.0), Vector::Constant(2, 0.6)));
}

TEST(GammaPrior, StatisticsAreTheSumsOfPowersAndProducts) {
  const AnyPrior one(GammaPrior(1, 2, 0.6));
  EXPECT_THAT(statistics(one, kFirstBefore, kFirstAfter), ElementsAreArray(kFirst));
  EXPECT_THAT(statistics(one, kSecondBefore, kSecondAfter), ElementsAreArray(kSecond));

  const AnyPrior two(GammaPrior(2, 2, 0.6));
  const Matrix previous = (Matrix(2, 2) << 1, 10, 2, 30).finished();
  const Matrix next = (Matrix(2, 2) << 3, 20, 5, 40).finished();
  const Vector weights = (Vector(2) << 0.5, 2).finished();
  Vector sums = Vector::Ones(two.num_statistics());  // the statistics are added to these
  two.add_statistics(previous, next, weights, as_span(sums));
  EXPECT_THAT(sums, ElementsAre(3.5, 5.5, 12.5, 9.5, 55.5, 22.5,  //
                                3.5, 66, 91, 1851, 3401, 2501));
}

TEST(GammaPrior, MStepTakesOwnParameters) {
  AnyPrior prior = with_own_parameters();
  prior.maximise(together(kFirst, kSecond));
  EXPECT_NEAR(parameter(prior, "persistence", 0), 0.75, kRounding);
  EXPECT_NEAR(parameter(prior, "persistence", 1), 5.0 / 13, kRounding);
  EXPECT_NEAR(parameter(prior, "shape", 0), 4, 4 * kRounding);
  EXPECT_NEAR(parameter(prior, "shape", 1), 75.0 / 26, 3 * kRounding);
}

TEST(GammaPrior, MStepTakesSharedParametersFromAverages) {
  AnyPrior prior(GammaPrior(2, 1, 0.6));
  prior.maximise(together(kFirst, kSecond));
  EXPECT_NEAR(parameter(prior, "persistence"), (0.75 + 0.4) / (1 + 1.04), kRounding);
  EXPECT_NEAR(parameter(prior, "shape"), 7 / (1 + 1.04), 3 * kRounding);
}

TEST(GammaPrior, MStepTakesOneSharedAndOneOwnParameter) {
  AnyPrior prior(GammaPrior(2, Vector::Constant(1, 1.0), Vector::Constant(2, 0.6)));
  prior.maximise(together(kFirst, kSecond));
  EXPECT_NEAR(parameter(prior, "persistence", 0), 0.75, kRounding);
  EXPECT_NEAR(parameter(prior, "persistence", 1), 5.0 / 13, kRounding);
  EXPECT_NEAR(parameter(prior, "shape"), 7 / (1 + 1.04), 3 * kRounding);
}

// The M-step accepts averages as well as sums, and does not depend on the scale of the activations.
TEST(GammaPrior, MStepNeedsNeitherTheNumberOfMovesNorTheScale) {
  for (const double scale : {1e-60, 0.1, 1e60}) {
    AnyPrior prior(GammaPrior(1, 2, 0.6));
    Vector sums = statistics(prior, scale * kFirstBefore, scale * kFirstAfter) / 64;
    prior.maximise(as_span(sums));
    EXPECT_NEAR(parameter(prior, "persistence"), 0.75, kRounding);
    EXPECT_NEAR(parameter(prior, "shape"), 4, 4 * kRounding);
  }
}

// The chain is reversible, so the M-step must be symmetric in time.
TEST(GammaPrior, MStepIsSymmetricInTheTwoEndsOfAMove) {
  const AnyPrior truth(GammaPrior(1, 2, 0.8));
  const Matrix drawn = draw(truth, 300, 0);
  const Matrix moved = move_on(truth, drawn);
  const auto expect_symmetric = [](const Matrix& previous, const Matrix& next) {
    AnyPrior forwards(GammaPrior(1, 1, 0.6));
    AnyPrior backwards = forwards;
    forwards.maximise(as_span(statistics(forwards, previous, next)));
    backwards.maximise(as_span(statistics(backwards, next, previous)));
    for (const char* name : {"persistence", "shape"}) {
      EXPECT_EQ(parameter(forwards, name), parameter(backwards, name)) << name;
    }
  };
  expect_symmetric(drawn, moved);
  expect_symmetric(kFirstBefore, kFirstAfter);
  expect_symmetric(kSecondBefore, kSecondAfter);
}

// Tolerances by the delta method, nearly normal for this many independent transitions. With u = x'
// - 1 and v = x - 1, the influence of a transition
//   on the variance, 1/a, is    (u^2 + v^2) / 2 - 1/a - (u + v) / a,
//   on the covariance, p/a, is  u v - p/a - p (u + v) / a,
// where the last terms come from the means. On the persistence p it is therefore
//   a (u v - p (u^2 + v^2) / 2).
// Up to a factor, u^2 - 1/a - 2 u / a is a Laguerre polynomial of degree 2. It has variance 2 (a +
// 1) / a^3 and correlation p^2 with the same polynomial of v, so the standard error of the shape a
// is sqrt(a (a + 1) (1 + p^2) / n).
TEST(GammaPrior, MStepFindsTheParametersAgain) {
  constexpr Index kMoves = 200000;
  const double critical = reference::normal_critical(kMStepAlarmRate);
  for (const auto& [shape, persistence] :
       {Setting{0.5, 0.7}, Setting{2.5, 0.8}, Setting{10, 0.3}, Setting{2, 0.98}}) {
    const AnyPrior truth(GammaPrior(1, shape, persistence));
    const Matrix previous = draw(truth, kMoves, 0);
    const Matrix next = move_on(truth, previous);
    const auto u = previous.col(0).array() - 1;
    const auto v = next.col(0).array() - 1;
    const Vector influence = shape * (u * v - persistence * (u * u + v * v) / 2);
    AnyPrior prior(GammaPrior(1, 1, 0.5));
    prior.maximise(as_span(statistics(prior, previous, next)));
    EXPECT_NEAR(parameter(prior, "persistence"), persistence,
                critical * moments_of(influence).standard_error);
    EXPECT_NEAR(parameter(prior, "shape"), shape,
                critical * std::sqrt(shape * (shape + 1) * (1 + persistence * persistence) /
                                     double(kMoves)));
  }
}

// The statistics do not depend on the parameters, so one step reaches the fixed point from any
// start, and the next step stays there.
TEST(GammaPrior, OneStepOfEMIsEnoughForKnownActivations) {
  const AnyPrior truth(GammaPrior(2, 2, 0.8));
  const Matrix previous = draw(truth, 300, 0);
  const Matrix next = move_on(truth, previous);
  AnyPrior expected(GammaPrior(2, 1, 0.5));
  expected.maximise(as_span(statistics(expected, previous, next)));
  for (const auto& [shape, persistence] :
       {Setting{0.3, 0.05}, Setting{20, 0.9}, Setting{2, 1 - 1e-6}}) {
    AnyPrior prior(GammaPrior(2, shape, persistence));
    for (int step = 0; step < 2; ++step) {
      prior.maximise(as_span(statistics(prior, previous, next)));
      EXPECT_EQ(parameter(prior, "persistence"), parameter(expected, "persistence"));
      EXPECT_EQ(parameter(prior, "shape"), parameter(expected, "shape"));
    }
  }
}

TEST(GammaPrior, MStepStaysInside) {
  AnyPrior prior(GammaPrior(1, 2, 0.6));
  prior.maximise(std::vector<double>{2, 2, 2, 4, 4, 0});  // 0 and 2 alternate
  EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), 1e-6);
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1);
  prior.maximise(std::vector<double>{2, 2, 2, 4, 4, 4});  // x = x'
  EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), 1 - 1e-6);
  prior.maximise(std::vector<double>{2, 2, 2, 2, 4, 2});  // x' is constant
  EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), 1e-6);
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 2);
  prior.maximise(std::vector<double>{1, 1, 1, 1.0001, 1.0001, 100});
  EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), 1 - 1e-6);
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1e3);
  prior.maximise(std::vector<double>{1, 1, 1, 2, 1e9, 1});
  EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1e-3);
}

TEST(GammaPrior, MStepKeepsWhatItKnowsNothingOf) {
  AnyPrior prior(GammaPrior(1, 2, 0.6));
  prior.maximise(kNothing);
  prior.maximise(std::vector<double>{1, 0, 0, 0, 0, 0});
  prior.maximise(std::vector<double>{1, 1, 0, 1, 0, 0});
  prior.maximise(std::vector<double>{1, 0, 1, 0, 1, 0});
  EXPECT_EQ(parameter(prior, "shape"), 2);
  EXPECT_EQ(parameter(prior, "persistence"), 0.6);
}

// 0.1 is not a binary fraction, so its sums give a variance that is only rounding error.
TEST(GammaPrior, ConstantActivationsLeaveThePersistenceAlone) {
  for (const Index moves : {7, 1000}) {
    const Matrix x = Matrix::Constant(moves, 1, 0.1);
    AnyPrior prior(GammaPrior(1, 2, 0.6));
    prior.maximise(as_span(statistics(prior, x, x)));
    EXPECT_EQ(parameter(prior, "persistence"), 0.6) << moves;
    EXPECT_DOUBLE_EQ(parameter(prior, "shape"), 1e3) << moves;
  }
}

TEST(GammaPrior, MStepLeavesOutComponentsWithoutActivations) {
  const std::vector<double> sums = together(kFirst, kNothing);
  AnyPrior own = with_own_parameters();
  own.maximise(sums);
  EXPECT_NEAR(parameter(own, "persistence", 0), 0.75, kRounding);
  EXPECT_EQ(parameter(own, "persistence", 1), 0.6);
  EXPECT_EQ(parameter(own, "shape", 1), 1);
  AnyPrior shared(GammaPrior(2, 1, 0.6));
  shared.maximise(sums);
  EXPECT_NEAR(parameter(shared, "persistence"), 0.75, kRounding);
  EXPECT_NEAR(parameter(shared, "shape"), 4, 4 * kRounding);
}

// The tolerance is the standard error of the moment estimate of the shape, sqrt(2 a (a + 1) / n).
// That of the maximum-likelihood estimate is smaller.
TEST(IndependentPrior, MStepFindsTheShapeAgain) {
  constexpr Index kDraws = 200000;
  for (const double shape : {0.05, 0.5, 3.0, 50.0}) {
    AnyPrior prior(IndependentPrior(1, 1.0));
    const Matrix x = draw(AnyPrior(IndependentPrior(1, shape)), kDraws, 0);
    prior.maximise(as_span(statistics(prior, x, 3.7 * x)));  // any scale
    EXPECT_NEAR(parameter(prior, "shape"), shape,
                reference::normal_critical(kMStepAlarmRate) *
                    std::sqrt(2 * shape * (shape + 1) / double(kDraws)));
  }
}

// The M-step maximises the likelihood of x / mean.
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
