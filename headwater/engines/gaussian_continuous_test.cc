#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "headwater/engines/fast_engine.hpp"
#include "headwater/reference/continuous_records.hpp"

// Particles and the fast engine under continuous priors, with a law of the counts that is not
// Poisson's, against fine grids.

namespace headwater {
namespace {

using reference::ContinuousRecord;
using reference::GaussianLaw;
using reference::largest_relative_difference;

constexpr double kNoise = 0.8;
constexpr Index kSeeds = 30;

ContinuousRecord gaussian_record(const AnyPrior& prior, double noise = kNoise) {
  return {prior, GaussianLaw(noise)};
}

TEST(GaussianEngines, ParticlesOfContinuousPriorsAgreeWithTheGrid) {
  reference::expect_particles_agree_with_grid(GaussianLaw(kNoise), kSeeds, 1e-6);
}

// Guides that know the law keep more particles alive than the prior alone.
TEST(GaussianEngines, GuidesKnowTheLaw) {
  for (const AnyPrior& prior : reference::continuous_priors()) {
    ContinuousRecord c = gaussian_record(prior);
    c.emission.set_law(GaussianLaw(0.3));
    EXPECT_GT(mean_effective_size(prior, c, true), 2 * mean_effective_size(prior, c, false))
        << prior.name();
  }
}

// --- the fast engine -----------------------------------------------------------------------------

FastEngineOptions fast_uncorrected() {
  FastEngineOptions options;
  options.filter.most_corrected = 0;
  options.filter.most_steps = 2000;
  options.filter.tolerance = 1e-12;
  return options;
}

// The surroundings of the best activation by their definition: many short steps uphill, then the
// curvature there.
struct Best {
  Vector x;
  Vector curvature;  // of each component alone, times x^2
  double log_likelihood = 0;
};

Best climb_naively(const ContinuousRecord& c, const Observation& y,
                   const std::function<double(Index, double)>& prior_slope) {
  const Matrix& basis = c.emission.basis();
  const reference::LawFormulas gaussian = reference::gaussian_formulas(kNoise);
  Best best{Vector::Ones(3), Vector::Zero(2)};
  const auto for_cells = [&](const auto& visit) {
    for_each_seen(y, [&](Index m, double count, double exposure) {
      visit(m, exposure, count - exposure * basis.row(m).dot(best.x));
    });
  };
  for (int i = 0; i < 40000; ++i) {
    Vector slope = Vector::Zero(2);  // in log x
    for_cells([&](Index m, double exposure, double away) {
      for (Index k = 0; k < 2; ++k) {
        slope[k] += best.x[k] * exposure * basis(m, k) * away / (kNoise * kNoise);
      }
    });
    for (Index k = 0; k < 2; ++k) {
      best.x[k] *= std::exp(0.002 * (slope[k] + prior_slope(k, best.x[k])));
    }
  }
  for_cells([&](Index m, double exposure, double away) {
    best.log_likelihood += std::log(gaussian.density(m, away, 0));
    for (Index k = 0; k < 2; ++k) {
      const double share = best.x[k] * exposure * basis(m, k) / kNoise;
      best.curvature[k] += share * share;
    }
  });
  return best;
}

TEST(GaussianEngines, FastFitsNormalLawsToOneObservation) {
  const AnyPrior prior(LogGaussian(2, 0.7, 0.3));
  const double variance = 0.09 / (1 - 0.49);
  const ContinuousRecord c = gaussian_record(prior);
  const Observation& y = c.record[6];  // with an exposure
  FastEngine engine(prior, c.emission, fast_uncorrected());
  const FilterStep step = engine.step(y, 1);
  const Best best = climb_naively(c, y, [&](Index, double x) { return -std::log(x) / variance; });
  double log_probability = best.log_likelihood;
  for (Index k = 0; k < 2; ++k) {
    const double u = std::log(best.x[k]);
    const double fitted = 1 / (1 / variance + best.curvature[k]);
    EXPECT_NEAR(engine.filter().filtered().mean[k], u, 1e-6);
    EXPECT_NEAR(engine.filter().filtered().variance[k], fitted, 1e-6);
    log_probability += -0.5 * u * u / variance + 0.5 * std::log(fitted / variance);
  }
  EXPECT_NEAR(step.log_predictive, log_probability, 1e-5);
}

TEST(GaussianEngines, FastFitsGammaLawsToOneObservation) {
  const double shape = 3;
  const AnyPrior prior(GammaPrior(2, shape, 0.6));
  const ContinuousRecord c = gaussian_record(prior);
  const Observation& y = c.record[6];
  FastEngine engine(prior, c.emission, fast_uncorrected());
  const FilterStep step = engine.step(y, 1);
  const Best best = climb_naively(c, y, [&](Index, double x) { return shape - shape * x; });
  double log_probability = best.log_likelihood;
  for (Index k = 0; k < 2; ++k) {
    const double x = best.x[k];
    const double a = best.curvature[k];  // of x^a exp(-b x), which has the likelihood's slope
    const double b = (shape + a) / x - shape;
    EXPECT_NEAR(engine.filter().filtered().mean[k], x, 1e-6);
    EXPECT_NEAR(engine.filter().filtered().variance[k], x * x / (shape + a), 1e-6);
    log_probability += shape * std::log(shape) - std::lgamma(shape) + std::lgamma(shape + a) -
                       (shape + a) * std::log(shape + b) - a * std::log(x) + b * x;
  }
  EXPECT_NEAR(step.log_predictive, log_probability, 1e-5);
}

// With its correction by weighted draws the probability of the first observation has no bias.
TEST(GaussianEngines, CorrectedFastAgreesWithTheGrid) {
  const AnyPrior prior(LogGaussian(2, 0.7, 0.3));
  const ContinuousRecord c = gaussian_record(prior);
  Record first;
  first.add(c.record[0]);
  const double truth =
      ExactBatch(reference::make_grid_chain(prior, 96).chain, c.emission, first).log_likelihood();
  const Matrix found = reference::over_seeds(kSeeds, [&](std::uint64_t seed) {
    FastEngineOptions options;
    options.filter.seed = seed;
    FastEngine engine(prior, c.emission, options);
    return Vector::Constant(1, std::exp(engine.step(c.record[0], 1).log_predictive - truth)).eval();
  });
  EXPECT_LT(reference::largest_z(found, Vector::Ones(1), 1e-5), reference::critical_z(found));
}

// Where the prior says more of the activations than the counts do, the law of a step is narrow, and
// the statistics are close to those of the exact smoother on a fine grid.
TEST(GaussianEngines, FastStatisticsAreNearThoseOfTheGrid) {
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.7, 0.05)), AnyPrior(GammaPrior(2, 200, 0.6))}) {
    const ContinuousRecord c = gaussian_record(prior);
    ExactBatch batch(reference::make_grid_chain(prior, 96).chain, c.emission, c.record);
    const Statistics truth = batch.statistics(false);
    for (const Index most_corrected : {Index{0}, Index{12}}) {
      const Statistics found = reference::run_fast(prior, c, most_corrected).statistics;
      EXPECT_LT(largest_relative_difference(found.s1, truth.s1), 0.02) << prior.name();
      EXPECT_LT(largest_relative_difference(found.s2, truth.s2), 0.02) << prior.name();
      EXPECT_LT(largest_relative_difference(found.s4, truth.s4), 0.02) << prior.name();
      EXPECT_LT(largest_relative_difference(found.unseen, truth.unseen), 0.02) << prior.name();
    }
  }
}

// At the best activation alone the squared residuals of three cells with two free activations would
// be a third of what they are.
TEST(GaussianEngines, FastKnowsThatItsBestActivationFitsTooWell) {
  const AnyPrior prior(GammaPrior(2, 3, 0.1));
  const Emission emission((Matrix(3, 2) << 30, 10, 10, 30, 20, 20).finished(), GaussianLaw(1));
  Simulator simulator(prior, emission, 3);
  FastEngine engine(prior, emission, {});
  constexpr int kLength = 2000;
  for (int t = 1; t <= kLength; ++t) {
    simulator.next();
    engine.step(simulator.observation(), 1.0 / t);
  }
  engine.finish();
  EXPECT_NEAR(engine.statistics().s4[0] / engine.statistics().s4[1], 1, 0.1);
}

}  // namespace
}  // namespace headwater
