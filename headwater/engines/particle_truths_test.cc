#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/gamma_mixture.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

// The particle engine on continuous priors, against sums over fine grids.

namespace headwater {
namespace {

using reference::GridTruth;
using reference::ParticleRun;
using reference::run_particles;
using SmootherKind = ParticleEngineOptions::Smoother;

// Means over 30 seeds against the truth, at an alarm rate of 1e-6 for each prior and smoother
// (critical_z()). The bias of order 1 / N is a small part of a standard error, of order
// 1 / sqrt(30 N).
constexpr Index kManySeeds = 30;

// Everything that is compared, as one vector.
Vector findings(double likelihood_ratio, const Matrix& filtered_means, const Statistics& statistics,
                AnyPrior prior) {
  prior.maximise(as_span(statistics.s3));
  std::vector<double> all{likelihood_ratio};
  const auto add = [&](const auto& values) { all.insert(all.end(), values.begin(), values.end()); };
  add(filtered_means.reshaped());
  add(reference::all_of(statistics));
  if (statistics.unseen.size() > 0) add(statistics.unseen.reshaped());
  for (const Parameter& parameter : prior.parameters()) add(parameter.value.reshaped());
  if (prior.has_scale()) add(prior.scale());
  return Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()));
}

void expect_truth(const GridTruth& truth, const AnyPrior& prior, const Matrix& basis,
                  const Matrix& record, ParticleEngineOptions options) {
  const Matrix found = reference::over_seeds(kManySeeds, [&](std::uint64_t seed) {
    options.filter.seed = seed;
    const ParticleRun run = run_particles(prior, basis, record, options);
    return findings(std::exp(run.log_likelihood - truth.log_likelihood), run.filtered_means,
                    run.statistics, prior);
  });
  // The grid's own error.
  constexpr double kResolution = 1e-5;
  const Vector expected = findings(1, truth.filtered_means, truth.statistics, prior);
  ASSERT_EQ(found.cols(), expected.size());
  EXPECT_LT(reference::largest_z(found, expected, kResolution), reference::critical_z(found))
      << prior.name() << ", smoother " << static_cast<int>(options.smoother);
}

ParticleEngineOptions long_lag(SmootherKind smoother, Index n) {
  auto options = reference::particle_options(smoother, n);
  options.window.lag = 100;
  return options;
}

class ByPrior : public testing::TestWithParam<std::string> {
 protected:
  static AnyPrior prior(Index components) {
    if (GetParam() == "log-gaussian") return AnyPrior(LogGaussian(components, 0.8, 0.4));
    if (GetParam() == "gamma") return AnyPrior(GammaPrior(components, 1.5, 0.7));
    if (GetParam() == "independent") return AnyPrior(IndependentPrior(components, 0.8));
    return AnyPrior(RelaxedSelection(components, 0.8));
  }
};
INSTANTIATE_TEST_SUITE_P(Particles, ByPrior,
                         testing::Values("log-gaussian", "gamma", "independent",
                                         "relaxed-selection"),
                         [](const auto& prior) {
                           std::string name = prior.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(ByPrior, OneComponentAgreesWithTheGrid) {
  const Matrix basis = random_basis(3, 1, 2, 3);
  Matrix record = reference::simulate_record(prior(1), basis, 25, 5);
  record(1, 9) = kNaN;
  record.col(15).setConstant(kNaN);
  const GridTruth truth = reference::truth_of(prior(1), basis, record, 256);
  for (const auto smoother : {SmootherKind::kLag, SmootherKind::kPath, SmootherKind::kParis}) {
    expect_truth(truth, prior(1), basis, record, long_lag(smoother, 1000));
  }
  expect_truth(truth, prior(1), basis, record, long_lag(SmootherKind::kForward, 60));
}

TEST_P(ByPrior, EveryWayOfDrawingAgreesWithTheGrid) {
  const Matrix basis = random_basis(3, 1, 2, 3);
  const Matrix record = reference::simulate_record(prior(1), basis, 10, 7);
  const GridTruth truth = reference::truth_of(prior(1), basis, record, 256);
  for (const auto draw : {BackwardDraw::kRejection, BackwardDraw::kExact}) {
    const bool is_square = draw == BackwardDraw::kExact;
    auto options = long_lag(SmootherKind::kParis, is_square ? 60 : 150);
    options.backward_draw = draw;
    expect_truth(truth, prior(1), basis, record, options);
  }
}

// With a background, and scales that are not one where there are scales.
TEST_P(ByPrior, TwoComponentsAgreeWithTheGrid) {
  AnyPrior two = prior(2);
  if (two.has_scale()) two.set_scale((Vector(2) << 0.5, 2).finished());
  const Matrix basis = random_basis(3, 3, 2, 3);
  const Matrix record = reference::simulate_record(two, basis.leftCols(2), 10, 5);
  const GridTruth truth = reference::truth_of(two, basis, record, 96);
  for (const auto smoother : {SmootherKind::kLag, SmootherKind::kParis}) {
    expect_truth(truth, two, basis, record, long_lag(smoother, 1000));
  }
}

// Particles that look ahead have the same laws before every smoother, bridged or not.
TEST_P(ByPrior, GuidedParticlesAgreeWithTheGrid) {
  const Matrix basis = random_basis(3, 1, 6, 3);
  Matrix record = reference::simulate_record(prior(1), basis, 12, 5);
  record(1, 4) = kNaN;
  record.col(7).setConstant(kNaN);
  record.col(9).setZero();
  const GridTruth truth = reference::truth_of(prior(1), basis, record, 256);
  for (const auto smoother : {SmootherKind::kLag, SmootherKind::kParis, SmootherKind::kForward}) {
    for (const double bridge_below : {0.0, 1.0}) {
      auto options = long_lag(smoother, smoother == SmootherKind::kForward ? 60 : 500);
      options.filter.guided = true;
      options.filter.bridge_below = bridge_below;
      expect_truth(truth, prior(1), basis, record, options);
    }
  }
}

TEST_P(ByPrior, TwoGuidedComponentsAgreeWithTheGrid) {
  AnyPrior two = prior(2);
  if (two.has_scale()) two.set_scale((Vector(2) << 0.5, 2).finished());
  const Matrix basis = random_basis(3, 3, 2, 3);  // the last for a background
  const Matrix record = reference::simulate_record(two, basis.leftCols(2), 10, 5);
  const GridTruth truth = reference::truth_of(two, basis, record, 96);
  for (const double bridge_below : {0.0, 1.0}) {
    auto options = long_lag(SmootherKind::kLag, 500);
    options.filter.guided = true;
    options.filter.bridge_below = bridge_below;
    expect_truth(truth, two, basis, record, options);
  }
}

// The gamma prior's exact filter: a mixture of gamma laws.
TEST(ParticleTruths, GammaFilterAgreesWithItsMixture) {
  const AnyPrior prior(GammaPrior(1, 0.6, 0.8));
  const Matrix basis = random_basis(3, 1, 3, 3);
  Matrix record = reference::simulate_record(prior, basis, 30, 5);
  record(0, 4) = kNaN;
  reference::GammaMixtureFilter mixture(0.6, 0.8, basis.col(0));
  Vector truth(31);
  double log_likelihood = 0;
  for (Index t = 0; t < 30; ++t) {
    log_likelihood += mixture.step(as_span(record.col(t)));
    truth[t] = mixture.mean();
  }
  truth[30] = 1;
  const Matrix found = reference::over_seeds(kManySeeds, [&](std::uint64_t seed) {
    const auto options = reference::particle_options(SmootherKind::kLag, 1000, seed);
    const ParticleRun run = run_particles(prior, basis, record, options);
    Vector values(31);
    values << run.filtered_means.col(0), std::exp(run.log_likelihood - log_likelihood);
    return values;
  });
  EXPECT_LT(reference::largest_z(found, truth), reference::critical_z(found));
}

// The bias of a statistic is c / N, from N = 8 on here: the slope of log |bias| on log N is -1.
// With 640 N seeds each bias is known to about 6 % (measured), and the slope, which is (log b(32) -
// log b(8)) / log 4, to sqrt(2) 0.06 / 1.39 = 0.06: a deviation of 0.3 is five standard errors, an
// alarm rate of 1e-6.
TEST(ParticleTruths, BiasFallsAsTheInverseOfTheNumberOfParticles) {
  const AnyPrior prior(LogGaussian(1, 0.7, 0.6));
  const Matrix basis = Matrix::Constant(2, 1, 2.0);
  const Matrix record = (Matrix(2, 3) << 3, 4, 0, 0, 4, 0).finished();
  const double truth = reference::truth_of(prior, basis, record, 400).statistics.s1[0];
  const auto log_bias = [&](Index n) {
    auto options = reference::particle_options(SmootherKind::kPath, n);
    options.filter.resample_below = 1;
    options.filter.resampling = Resampling::kMultinomial;
    const Matrix found = reference::over_seeds(640 * n, [&](std::uint64_t seed) {
      options.filter.seed = seed;
      return run_particles(prior, basis, record, options).statistics.s1;
    });
    const reference::Moments mean = reference::moments_of(found.col(0));
    EXPECT_LT(mean.standard_error, 0.075 * std::abs(mean.mean - truth)) << n;
    return std::log(std::abs(mean.mean - truth));
  };
  const double slope = (log_bias(32) - log_bias(8)) / std::log(4);
  EXPECT_NEAR(slope, -1, 0.3);
}

}  // namespace
}  // namespace headwater
