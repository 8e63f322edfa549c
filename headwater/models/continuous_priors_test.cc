#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "headwater/any_prior.hpp"
#include "headwater/conformance.hpp"
#include "headwater/error.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;

// The integral of exp(log_density) over [from, to], by the midpoint rule.
template <class LogDensity>
double integral(double from, double to, const LogDensity& log_density) {
  constexpr int kCells = 200000;
  double sum = 0;
  for (int i = 0; i < kCells; ++i) {
    sum += std::exp(log_density(from + (i + 0.5) * (to - from) / kCells));
  }
  return sum * (to - from) / kCells;
}

template <class Prior>
double log_density(const Prior& prior, double previous, double next) {
  Vector out(1);
  prior.log_transition(Matrix::Constant(1, 1, previous), Matrix::Constant(1, 1, next), out);
  return out[0];
}

TEST(RelaxedSelection, Conforms) {
  const Vector own = (Vector(3) << 0.3, 0.8, 0.99).finished();
  for (const AnyPrior& prior :
       {AnyPrior(RelaxedSelection(2, 0.95)), AnyPrior(RelaxedSelection(1, 0.5)),
        AnyPrior(RelaxedSelection(3, own))}) {
    EXPECT_THAT(check_prior(prior).findings, ElementsAre());
  }
}

// For alpha = 1/2 the stationary distribution is the arcsine law, P(X <= x) = 2/pi asin(sqrt x).
// Kolmogorov-Smirnov test, alarm rate 1e-6.
TEST(RelaxedSelection, StartsInTheArcsineLawForOneHalf) {
  const RelaxedSelection prior(1, 0.5);
  const RandomStream random(3);
  Matrix states(20000, 1);
  prior.sample_initial({random, 1, 0, Purpose::initial_state}, states);
  Matrix x(20000, 1);
  prior.activations(states, x);
  std::vector<double> sample(x.data(), x.data() + x.size());
  std::ranges::sort(sample);
  const double distance = reference::kolmogorov_statistic(
      sample, [](double at) { return 2 / std::numbers::pi * std::asin(std::sqrt(at)); });
  EXPECT_LT(distance, reference::kolmogorov_smirnov_critical(20000, 1e-6));
}

double state_of(double x) { return x <= 0.5 ? x : x - 1; }

// Integrates separately between the jumps of the density: from the edge to the previous state, then
// to the middle, then to the other edge.
TEST(RelaxedSelection, DensityIntegratesToOne) {
  const RelaxedSelection prior(1, 0.9);
  for (const double before : {0.01, 0.3, 0.499}) {
    for (const double side : {1.0, -1.0}) {
      const auto density = [&](double s) { return log_density(prior, side * before, s); };
      const double all =
          integral(std::min(0.0, side * before), std::max(0.0, side * before), density) +
          integral(side > 0 ? before : -0.5, side > 0 ? 0.5 : -before, density) +
          integral(side > 0 ? -0.5 : 0.0, side > 0 ? 0.0 : 0.5, density);
      EXPECT_NEAR(all, 1, 1e-3);
    }
  }
}

// f is alpha / x' below x' <= 1/2 and (1 - alpha) / (1 - x') above.
TEST(RelaxedSelection, DensityIsThePapers) {
  const double alpha = 0.9;
  const RelaxedSelection prior(1, alpha);
  const double before = 0.2;
  for (const double x : {0.05, 0.19, 0.3, 0.6, 0.99}) {
    const double expected = x <= before ? alpha / before : (1 - alpha) / (1 - before);
    EXPECT_NEAR(log_density(prior, state_of(before), state_of(x)), std::log(expected), 1e-12);
    EXPECT_NEAR(log_density(prior, -state_of(before), -state_of(x)), std::log(expected), 1e-12);
  }
}

// One transition has the paper's distribution: towards the edge uniform below the previous state,
// away from it uniform above. Kolmogorov-Smirnov tests, alarm rate 1e-6 each.
TEST(RelaxedSelection, MovesByThePapersLaw) {
  const double alpha = 0.7;
  const RelaxedSelection prior(1, alpha);
  for (const double before : {0.1, 0.5, 0.9}) {
    const Matrix previous = Matrix::Constant(20000, 1, state_of(before));
    Matrix next(20000, 1);
    Matrix x(20000, 1);
    prior.sample_transition({RandomStream(4), 1, 0, Purpose::transition}, previous, next);
    prior.activations(next, x);
    std::vector<double> sample(x.data(), x.data() + x.size());
    std::ranges::sort(sample);
    const double below = before <= 0.5 ? alpha : 1 - alpha;
    const double distance = reference::kolmogorov_statistic(sample, [&](double at) {
      return at <= before ? below * at / before
                          : below + (1 - below) * (at - before) / (1 - before);
    });
    EXPECT_LT(distance, reference::kolmogorov_smirnov_critical(20000, 1e-6)) << before;
  }
}

// With alpha near 1, x reaches 1e-300 within a few thousand steps. It must not underflow to 0: the
// distance stays at its minimum, on the same side.
TEST(RelaxedSelection, DoesNotUnderflow) {
  const RelaxedSelection prior(50, 0.999);
  const RandomStream random(5);
  Matrix now(1, 50);
  Matrix next(1, 50);
  prior.sample_initial({random, 0, 0, Purpose::initial_state}, now);
  double nearest = 1;
  for (std::uint64_t t = 1; t < 20000; ++t) {
    prior.sample_transition({random, t, 0, Purpose::transition}, now, next);
    now.swap(next);
    ASSERT_LE(now.cwiseAbs().maxCoeff(), 0.5);
    nearest = std::min(nearest, now.cwiseAbs().minCoeff());
  }
  EXPECT_EQ(nearest, 1e-300);
  Matrix x(1, 50);
  prior.activations(now, x);
  EXPECT_GE(x.minCoeff(), 0);
  EXPECT_LE(x.maxCoeff(), 1);
  Vector out(1);
  prior.log_transition(Matrix::Constant(1, 50, 1e-300), Matrix::Constant(1, 50, 1e-300), out);
  EXPECT_TRUE(std::isfinite(out[0]));
}

// Erratum E5: transitions are summed over all components. "Towards" means closer to the same edge.
TEST(RelaxedSelection, CountsMovesTowardsTheEdge) {
  AnyPrior prior(RelaxedSelection(2, 0.5));
  const Matrix before = (Matrix(2, 2) << 0.3, -0.3, 0.1, 0.1).finished();
  const Matrix after = (Matrix(2, 2) << 0.05, -0.01, 0.2, -0.05).finished();
  Vector statistics = Vector::Zero(4);
  prior.add_statistics(before, after, Vector::Ones(2), as_span(statistics));
  EXPECT_EQ(statistics, (Vector(4) << 1, 1, 1, 1).finished());
  prior.maximise(std::vector<double>{6, 1, 2, 1});
  EXPECT_DOUBLE_EQ(prior.parameters()[0].value(0), 0.8);
}

TEST(LogGaussian, Conforms) {
  const Vector persistence = (Vector(2) << 0.5, -0.3).finished();
  const Vector noise = (Vector(2) << 0.2, 1).finished();
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(3, 0.9, 0.3)), AnyPrior(LogGaussian(2, persistence, noise)),
        AnyPrior(LogGaussian(2, persistence, Vector::Constant(1, 0.5)))}) {
    EXPECT_THAT(check_prior(prior).findings, ElementsAre());
  }
}

TEST(LogGaussian, DensityIntegratesToOne) {
  const LogGaussian prior(1, 0.8, 0.4);
  for (const double previous : {-1.0, 0.0, 2.0}) {
    EXPECT_NEAR(integral(-10, 10, [&](double u) { return log_density(prior, previous, u); }), 1,
                1e-9);
  }
}

TEST(LogGaussian, MaximisesByLeastSquares) {
  AnyPrior prior(LogGaussian(1, 0.1, 1));
  prior.maximise(std::vector<double>{10, 0.1, 0.2, 4, 3, 5});
  EXPECT_DOUBLE_EQ(prior.parameters()[0].value(0), 0.75);
  EXPECT_DOUBLE_EQ(prior.parameters()[1].value(0),
                   std::sqrt((5 - 2 * 0.75 * 3 + 0.75 * 0.75 * 4) / 10));
}

TEST(ContinuousPriors, RefuseWhatMakesNoSense) {
  EXPECT_THROW(RelaxedSelection(2, 1.0), UsageError);
  EXPECT_THROW(LogGaussian(2, 1.0, 0.3), UsageError);
  EXPECT_THROW(LogGaussian(2, 0.5, 0.0), UsageError);
  AnyPrior prior(LogGaussian(2, 0.5, 0.3));
  EXPECT_THROW(prior.set_parameter(scalar_parameter("alpha", 0.5)), UsageError);
  EXPECT_THROW(prior.set_parameter(scalar_parameter("noise", -1)), UsageError);
}

}  // namespace
}  // namespace headwater
