#include "headwater/score_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

// Differences that depend on the one before, of a known variance of the sum: d_t = e_t + e_t-1 has
// sums of variance near 4 T, and the two scores have half of that. 32 to 64 blocks: squares of
// normal numbers, whose mean has a relative spread of sqrt(2 / 32).
TEST(ScoreError, BlocksCountNeighboursTogether) {
  ScoreError::Blocks blocks;
  Generator generator = RandomStream(4).at(0, 0, Purpose::observation);
  const int length = 5000;
  double before = 0;
  for (int t = 0; t < length; ++t) {
    const double now = normal(generator);
    blocks.add(now + before);
    before = now;
  }
  const double squared = std::pow(blocks.standard_error(), 2) / (2.0 * length);
  EXPECT_NEAR(squared, 1, 0.25 * reference::normal_critical(1e-6));
}

Estimate model_of(const AnyPrior& prior, const Matrix& basis) {
  Estimate estimate{basis, prior};
  return estimate;
}

// The scores of six seeds and what their standard errors say. The sum of squared deviations over
// the mean squared error is chi-square of 5 degrees, as far as the error is known: the factor 2
// stands for its own spread (32 blocks at least, in six runs).
TEST(ScoreError, SaysHowFarSeedsAreApart) {
  const AnyPrior prior(GammaPrior(3, 2.0, 0.8));
  const Matrix basis = random_basis(40, 3, 4, 5);
  const Matrix record = reference::simulate_record(prior, basis, 400, 11);
  EngineConfig engine;
  engine.kind = EngineKind::kParticle;
  engine.num_particles = 100;
  const Estimate estimate = model_of(prior, basis);
  std::vector<double> scores;
  double squared_errors = 0;
  constexpr int kSeeds = 6;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ModelFilter filter(estimate, false, engine, seed);
    ScoreError error(estimate, false, engine, seed);
    double score = 0;
    for (Index t = 0; t < record.cols(); ++t) {
      const Observation y(as_span(record.col(t)));
      const FilterStep step = filter.step(y);
      error.step(y, step);
      score += step.log_predictive;
    }
    EXPECT_TRUE(error.has_particles());
    scores.push_back(score);
    squared_errors += std::pow(error.standard_error(), 2) / kSeeds;
  }
  const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / kSeeds;
  double deviations = 0;
  for (const double score : scores) deviations += std::pow(score - mean, 2);
  EXPECT_GT(deviations, 0);
  EXPECT_LT(deviations / squared_errors, 2 * reference::chi_square_critical(kSeeds - 1, 1e-6));
  EXPECT_GT(deviations / squared_errors, 0.01);  // below with probability 4e-7 (5 degrees, halved)
}

TEST(ScoreError, IsZeroWithoutParticles) {
  const AnyPrior prior(BasisSelection(2, 0.9, 0.8));
  const Matrix basis = random_basis(4, 2, 4, 5);
  const Estimate estimate = model_of(prior, basis);
  ModelFilter filter(estimate, false);
  ScoreError error(estimate, false, {}, 1);
  const Observation y(std::vector<double>{1, 0, 2, 3});
  error.step(y, filter.step(y));
  EXPECT_FALSE(error.has_particles());
  EXPECT_EQ(error.standard_error(), 0);
}

}  // namespace
}  // namespace headwater
