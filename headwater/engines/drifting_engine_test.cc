#include "headwater/engines/drifting_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/forecast.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"

namespace headwater {
namespace {

const Matrix kBasis = (Matrix(3, 2) << 4, 0.5, 1, 5, 3, 2).finished();
const Vector kLevels{{0.5, 1, 3}};
const Vector kDispersions{{2.5, 0.0, 0.4}};

std::vector<std::vector<double>> counts() {
  const double missing = std::nan("");
  return {{5, 4, 0}, {0, 6, missing}, {0, 0, 0}, {3, missing, 11}, {6, 0, 37}, {1, 3, 2}};
}

using Make = std::function<std::unique_ptr<Engine>(const Emission& emission)>;

std::vector<Make> engines() {
  const AnyPrior finite(BasisSelection(2, 0.8, 0.7));
  const AnyPrior gamma(GammaPrior(2, 1, 0.8));
  const auto pool = std::make_shared<ThreadPool>(1);
  std::vector<Make> all;
  for (const auto smoother :
       {ExactEngineOptions::Smoother::kWindow, ExactEngineOptions::Smoother::kForward}) {
    all.push_back([=](const Emission& emission) {
      ExactEngineOptions options;
      options.smoother = smoother;
      return std::make_unique<ExactEngine>(finite, emission, options);
    });
  }
  all.push_back([=](const Emission& emission) {
    return std::make_unique<BeamEngine>(finite, emission, BeamEngineOptions());
  });
  all.push_back([=](const Emission& emission) {
    return std::make_unique<FastEngine>(gamma, emission, FastEngineOptions());
  });
  for (const AnyPrior& prior : {finite, gamma}) {
    all.push_back([=](const Emission& emission) {
      ParticleEngineOptions options;
      options.filter.num_particles = 50;
      return std::make_unique<ParticleEngine>(prior, emission, options, pool);
    });
  }
  return all;
}

// An observation that has its own dispersions is as one with these exposures under a law that has
// these dispersions: the truth of that law is established elsewhere, by sums over all paths.
TEST(DriftingEngine, EveryEngineTakesTheDispersionsOfTheObservation) {
  const Emission drifting(kBasis, NegativeBinomial(Vector::Constant(3, 0.07), 0.9));
  const Emission plain(kBasis, NegativeBinomial(kDispersions));
  int number = 0;
  for (const Make& make : engines()) {
    const auto with_levels = make(drifting);
    const auto without = make(plain);
    double t = 0;
    for (const std::vector<double>& row : counts()) {
      Observation levelled(row);
      levelled.set_levels({kLevels, kDispersions});
      std::vector<double> exposures(kLevels.begin(), kLevels.end());
      const Observation exposed(row, exposures);
      const double step_size = 1 / ++t;
      const FilterStep one = with_levels->step(levelled, step_size);
      const FilterStep other = without->step(exposed, step_size);
      EXPECT_NEAR(one.log_predictive, other.log_predictive, 1e-11) << number;
    }
    with_levels->finish();
    without->finish();
    const Statistics& found = with_levels->statistics();
    const Statistics& expected = without->statistics();
    EXPECT_TRUE(found.s1.isApprox(expected.s1, 1e-10)) << number;
    EXPECT_TRUE(found.s2.isApprox(expected.s2, 1e-10)) << number;
    EXPECT_TRUE(found.s3.isApprox(expected.s3, 1e-10)) << number;
    EXPECT_TRUE(found.unseen.isApprox(expected.unseen, 1e-10)) << number;
    ++number;
  }
}

// One component that is always on, so that the activation is known: all there is to filter is the
// level, and the prediction is that of the level filter alone.
TEST(DriftingEngine, PredictsByTheLevels) {
  const AnyPrior always(FiniteStatePrior::one_hot(1, 0.5));
  const Matrix basis = Matrix::Constant(2, 1, 3);
  const AnyLaw law(NegativeBinomial(Vector{{0.8, 0.2}}, 0.7));
  ExactEngineOptions options;
  DriftingEngine engine(std::make_unique<ExactEngine>(always, Emission(basis, law), options), law);
  LevelFilter levels(2);
  for (const std::vector<double>& row :
       std::vector<std::vector<double>>{{7, 1}, {9, 0}, {0, 4}, {2, 2}}) {
    const FilterStep step = engine.step(Observation(row), 0.5);
    levels.predict(Vector{{0.8, 0.2}}, 0.7);
    double expected = 0;
    for (Index m = 0; m < 2; ++m) {
      const double count = row[static_cast<std::size_t>(m)];
      expected += levels.log_density(m, count, 1, 3) - std::lgamma(count + 1);
      EXPECT_NEAR(predicted_observation(engine)[m], 3 * levels.means()[m], 1e-9);
      levels.update(m, count, 1, 3);
    }
    EXPECT_NEAR(step.log_predictive, expected, 1e-9);
  }
  // Ahead, the levels go back to 1.
  const Matrix ahead = forecast_means(engine, 3);
  for (Index h = 0; h < 3; ++h) {
    for (Index m = 0; m < 2; ++m) {
      const double level = 1 + std::pow(0.7, static_cast<double>(h + 1)) * (levels.means()[m] - 1);
      EXPECT_NEAR(ahead(m, h), 3 * level, 1e-9);
    }
  }
}

TEST(DriftingEngine, GoesOnFromASavedState) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const AnyLaw law(NegativeBinomial(Vector::Constant(3, 0.5), 0.9));
  const auto make = [&] {
    return with_levels(
        std::make_unique<ExactEngine>(prior, Emission(kBasis, law), ExactEngineOptions()), law);
  };
  const auto whole = make();
  for (const auto& row : counts()) whole->step(Observation(row), 0.3);
  StateArchive saved;
  whole->exchange(saved);
  const auto resumed = make();
  StateArchive read(saved.bytes());
  resumed->exchange(read);
  for (const auto& row : counts()) {
    EXPECT_EQ(whole->step(Observation(row), 0.3).log_predictive,
              resumed->step(Observation(row), 0.3).log_predictive);
  }
  EXPECT_EQ(whole->statistics().s4, resumed->statistics().s4);
}

}  // namespace
}  // namespace headwater
