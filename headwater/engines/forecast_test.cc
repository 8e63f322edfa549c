#include "headwater/engines/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"

namespace headwater {
namespace {

const BasisSelection kPrior(2, 0.9, 0.7);
const Matrix kBasis = (Matrix(3, 2) << 5, 1, 2, 3, 1, 6).finished();

// One source that is on with probability on: the chain has two states, and its law one number.
double one_step_later(double on) { return on * 0.7 + (1 - on) * (1 - 0.9); }

template <class E>
void see_some(E& engine) {
  for (const std::vector<double>& y : {std::vector<double>{4, 2, 1}, {6, 4, 5}, {1, 4, 7}}) {
    engine.step(y, 0);
  }
}

TEST(Forecast, OfTheExactEngineFollowsEachSourcesOwnChain) {
  ExactEngine engine(AnyPrior(kPrior), kBasis, {});
  see_some(engine);
  Vector on = engine.filtered_activation();
  const Matrix forecast = forecast_activations(engine, 50);
  ASSERT_EQ(forecast.rows(), 2);
  ASSERT_EQ(forecast.cols(), 50);
  for (Index h = 0; h < 50; ++h) {
    for (double& x : on) x = one_step_later(x);
    EXPECT_NEAR(forecast(0, h), on[0], 1e-12);
    EXPECT_NEAR(forecast(1, h), on[1], 1e-12);
  }
}

TEST(Forecast, LeavesTheEngineAsItIs) {
  ExactEngine engine(AnyPrior(kPrior), kBasis, {});
  see_some(engine);
  const Vector before = engine.filtered_activation();
  const Matrix first = forecast_activations(engine, 5);
  EXPECT_EQ(engine.filtered_activation(), before);
  EXPECT_EQ(forecast_activations(engine, 5), first);
}

// The standard error of a mean of N activations in [0, 1] is at most 1 / (2 sqrt(N)), of what
// resampling adds on the way at most as much again for each of three steps: 4 / (2 sqrt(N))
// together is .0063 for 100,000 particles. A normal variable leaves 6 of those with probability
// 2e-9, so ten comparisons give an alarm with 2e-8.
TEST(Forecast, OfParticlesAgreesWithTheExactOne) {
  ParticleEngineOptions options;
  options.filter.num_particles = 100000;
  options.smoother = ParticleEngineOptions::Smoother::kNone;
  ParticleEngine particles(AnyPrior(kPrior), kBasis, options, std::make_shared<ThreadPool>(1));
  ExactEngine exact(AnyPrior(kPrior), kBasis, {});
  see_some(particles);
  see_some(exact);
  const Matrix difference = forecast_activations(particles, 5) - forecast_activations(exact, 5);
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 6 * 2 / std::sqrt(100000.0));
}

}  // namespace
}  // namespace headwater
