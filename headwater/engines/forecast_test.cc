#include "headwater/engines/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"

namespace headwater {
namespace {

const BasisSelection kPrior(2, 0.9, 0.7);
const Matrix kForecastBasis = (Matrix(3, 2) << 5, 1, 2, 3, 1, 6).finished();

// One source that is on with probability on: the chain has two states, and its law one number.
double one_step_later(double on) { return on * 0.7 + (1 - on) * (1 - 0.9); }

template <class E>
void see_some(E& engine) {
  for (const std::vector<double>& y : {std::vector<double>{4, 2, 1}, {6, 4, 5}, {1, 4, 7}}) {
    engine.step(y, 0);
  }
}

TEST(Forecast, OfTheExactEngineFollowsEachSourcesOwnChain) {
  ExactEngine engine(AnyPrior(kPrior), kForecastBasis, {});
  see_some(engine);
  Vector on = engine.filtered_activation();
  const Matrix means = forecast_means(engine, 50);
  ASSERT_EQ(means.rows(), 3);
  ASSERT_EQ(means.cols(), 50);
  for (Index h = 0; h < 50; ++h) {
    for (double& x : on) x = one_step_later(x);
    EXPECT_LT((means.col(h) - kForecastBasis * on).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Forecast, LeavesTheEngineAsItIs) {
  ExactEngine engine(AnyPrior(kPrior), kForecastBasis, {});
  see_some(engine);
  const Vector before = engine.filtered_activation();
  const Matrix first = forecast_means(engine, 5);
  EXPECT_EQ(engine.filtered_activation(), before);
  EXPECT_EQ(forecast_means(engine, 5), first);
}

// The standard error of a mean of N activations in [0, 1] is at most 1 / (2 sqrt(N)), of what
// resampling adds on the way at most as much again for each of three steps: 4 / (2 sqrt(N))
// together, and at most 10 times that in a mean, since no row of the basis sums to more than 10:
// .13 for 100,000 particles. A normal variable leaves 6 of those with probability 2e-9, so 15
// comparisons give an alarm with 3e-8.
TEST(Forecast, OfParticlesAgreesWithTheExactOne) {
  ParticleEngineOptions options;
  options.filter.num_particles = 100000;
  options.smoother = ParticleEngineOptions::Smoother::kNone;
  ParticleEngine particles(AnyPrior(kPrior), kForecastBasis, options,
                           std::make_shared<ThreadPool>(1));
  ExactEngine exact(AnyPrior(kPrior), kForecastBasis, {});
  see_some(particles);
  see_some(exact);
  const Matrix difference = forecast_means(particles, 5) - forecast_means(exact, 5);
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 6 * 2 * 10 / std::sqrt(100000.0));
}

// P(y <= count) of a negative binomial variable, from its definition.
double cdf(double count, double mean, double dispersion) {
  const double size = 1 / dispersion;
  double sum = 0;
  for (double y = 0; y <= count; ++y) {
    sum += std::exp(std::lgamma(y + size) - std::lgamma(size) - std::lgamma(y + 1) -
                    size * std::log1p(dispersion * mean) + y * std::log(mean / (mean + size)));
  }
  return sum;
}

// P(y_m <= count) a step ahead, where the sources are on independently.
double cdf_a_step_ahead(Index m, double count, const Matrix& basis, const Vector& on,
                        double dispersion) {
  double sum = 0;
  for (int state = 0; state < 4; ++state) {
    const Vector x{{state % 2 * 1.0, state / 2 * 1.0, 1.0}};
    const double weight = (state % 2 ? on[0] : 1 - on[0]) * (state / 2 ? on[1] : 1 - on[1]);
    sum += weight * cdf(count, basis.row(m).dot(x), dispersion);
  }
  return sum;
}

// The distribution function of n draws is nowhere further than e from the true one, but with
// probability 2 exp(-2 n e^2) [Massart1990]: 2e-8 for each of three channels with e = .0215 and n =
// 20,000. Far ahead the sources know nothing of each other, and are on as often as by their own
// chains.
TEST(Forecast, QuantilesAreThoseOfTheMixtureOfAllStates) {
  const Matrix basis = (Matrix(3, 3) << 5, 20, 4, 2, 3, 1, 40, 6, 9).finished();
  const double dispersion = 0.3;
  ExactEngine engine(AnyPrior(kPrior),
                     Emission(basis, NegativeBinomial(Vector::Constant(1, dispersion))), {});
  const double often = (1 - 0.9) / (1 - 0.9 + 1 - 0.7);
  const ForecastOptions options{.quantiles = {0.05, 0.5, 0.95}, .num_draws = 20000, .seed = 3};
  Forecast forecast(engine, options);
  for (int h = 0; h < 100; ++h) forecast.next();
  EXPECT_EQ(forecast.step(), 100);
  const Matrix quantiles = forecast.quantiles();
  const double e = std::sqrt(std::log(2 / 2e-8) / (2 * 20000));
  for (Index m = 0; m < 3; ++m) {
    for (Index i = 0; i < 3; ++i) {
      const double part = options.quantiles[static_cast<std::size_t>(i)];
      const Vector on{{often, often}};
      EXPECT_GE(cdf_a_step_ahead(m, quantiles(m, i), basis, on, dispersion), part - e);
      EXPECT_LE(cdf_a_step_ahead(m, quantiles(m, i) - 1, basis, on, dispersion), part + e);
    }
  }
}

TEST(Forecast, TotalsAreSumsOfTheDrawsOfAllChannels) {
  ExactEngine engine(AnyPrior(kPrior), kForecastBasis, {});
  see_some(engine);
  Forecast one(engine, {.quantiles = {0.1, 0.9}, .with_total = true, .num_draws = 1, .seed = 3});
  one.next();
  const Matrix draw = one.quantiles();
  ASSERT_EQ(draw.rows(), 4);
  EXPECT_EQ(draw(3, 0), draw(0, 0) + draw(1, 0) + draw(2, 0));
  EXPECT_EQ(draw.col(0), draw.col(1));  // a single draw is every quantile
  EXPECT_NEAR(one.mean()[3], one.mean().head(3).sum(), 1e-12);
}

TEST(Forecast, QuantilesThatAreNoneAreRefused) {
  ExactEngine engine(AnyPrior(kPrior), kForecastBasis, {});
  for (const double part : {0.0, 1.0, -0.5, std::nan("")}) {
    EXPECT_THROW(Forecast(engine, {.quantiles = {part}, .num_draws = 9}), UsageError);
  }
  EXPECT_THROW(Forecast(engine, {.quantiles = {}, .num_draws = 0}), UsageError);
}

}  // namespace
}  // namespace headwater
