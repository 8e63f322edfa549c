#include <gtest/gtest.h>

#include <cmath>

#include "headwater/learning/basis_curvature.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/monte_carlo_em.hpp"
#include "headwater/matching.hpp"
#include "headwater/reference/gaussian_law.hpp"
#include "headwater/reference/learners.hpp"
#include "headwater/reference/streams.hpp"

// Learning under a law of the counts that is not Poisson's and has a parameter of its own.

namespace headwater {
namespace {

using reference::gammas;
using reference::GaussianLaw;
using reference::Learner;
using reference::perturbed;
using reference::three_states;

// Means are six times the noise at least, so that no draw is below 0.
constexpr double kNoise = 0.5;
constexpr Index kLength = 2000;

const Matrix& true_basis() { return reference::learned_basis(); }

Record simulated(const AnyPrior& prior, Index length) {
  return reference::imperfect_record(prior, GaussianLaw(kNoise), length);
}

Estimate poor_start(const AnyPrior& prior) {
  return {perturbed(true_basis(), 0.3, 2), prior, GaussianLaw(2)};
}

double noise_of(const Estimate& estimate) { return estimate.law.parameters()[0].value(0); }

void expect_found(const Estimate& found, double most_off, const char* who) {
  EXPECT_LT(relative_error(found.basis, true_basis()), most_off) << who;
  EXPECT_NEAR(noise_of(found), kNoise, most_off * kNoise) << who;
}

// --- batch EM ------------------------------------------------------------------------------------

TEST(GaussianLearning, ExactBatchEmClimbsToTheTruth) {
  const Record record = simulated(three_states(), kLength);
  const BatchEmResult result = batch_em(record, poor_start(three_states()), {});
  for (std::size_t i = 1; i < result.log_likelihood.size(); ++i) {
    const double before = result.log_likelihood[i - 1];
    EXPECT_GE(result.log_likelihood[i], before - 1e-10 * std::abs(before)) << i;
  }
  EXPECT_TRUE(result.converged);
  expect_found(result.estimate, 0.03, "batch EM");
}

TEST(GaussianLearning, AHeldNoiseStays) {
  const Record record = simulated(three_states(), 200);
  BatchEmOptions options;
  options.max_iterations = 5;
  options.m_step.held_parameters = {"noise"};
  EXPECT_EQ(noise_of(batch_em(record, poor_start(three_states()), options).estimate), 2);
}

// A law whose M-step goes too far: the likelihood must not fall all the same.
struct OvershootingLaw : GaussianLaw {
  using GaussianLaw::GaussianLaw;
  void maximise(std::span<const double> statistics, double n, const Held& held) {
    const double before = noise_;
    GaussianLaw::maximise(statistics, n, held);
    noise_ = before * std::pow(noise_ / before, 3.0);
  }
};

TEST(GaussianLearning, BatchEmNeverFallsWhereTheMStepOfTheLawGoesTooFar) {
  const Record record = simulated(three_states(), 300);
  Estimate start = poor_start(three_states());
  start.law = OvershootingLaw(2);
  BatchEmOptions options;
  options.max_iterations = 60;
  const BatchEmResult result = batch_em(record, start, options);
  for (std::size_t i = 1; i < result.log_likelihood.size(); ++i) {
    const double before = result.log_likelihood[i - 1];
    EXPECT_GE(result.log_likelihood[i], before - 1e-10 * std::abs(before)) << i;
  }
  EXPECT_NEAR(noise_of(result.estimate), kNoise, 0.05);
}

TEST(GaussianLearning, MonteCarloEmFindsTheTruth) {
  const Record record = simulated(three_states(), 500);
  BatchEmOptions options;
  options.max_iterations = 40;
  const auto make = [](const Estimate& estimate, std::int64_t iteration) {
    const auto particles = reference::particle_options(ParticleEngineOptions::Smoother::kLag, 200,
                                                       static_cast<std::uint64_t>(iteration) + 1);
    return std::make_unique<ParticleEngine>(estimate.prior, estimate.emission(), particles,
                                            reference::threads(1));
  };
  for (const bool lengthens : {false, true}) {
    options.lengthen_steps = lengthens;
    const BatchEmResult result = monte_carlo_em(record, poor_start(three_states()), options, make);
    expect_found(result.estimate, 0.05, lengthens ? "lengthened" : "plain");
  }
}

// --- online EM -----------------------------------------------------------------------------------

// Activations of a continuous prior are all but known here, and EM then mixes and unmixes columns
// slowly, whatever the law. Such learners start at the true basis: they must stay there, and find
// the noise.
TEST(GaussianLearning, OnlineEmFindsTheTruthByEveryEngine) {
  for (const Learner& learner : reference::all_learners()) {
    const Record record = simulated(learner.prior, kLength);
    Estimate start = poor_start(learner.prior);
    if (!learner.prior.is_finite()) start.basis = true_basis();
    OnlineEm em = learner.from(start);
    for (Index t = 0; t < record.size(); ++t) em.update(record[t]);
    em.finish();
    expect_found(em.reported(), 0.05, learner.name);
  }
}

TEST(GaussianLearning, ASavedStateGoesOnBitForBit) {
  for (const Learner& learner : reference::all_learners()) {
    const Estimate start = poor_start(learner.prior);
    reference::expect_saved_state_goes_on(learner, simulated(learner.prior, 300), start,
                                          {start.basis, start.prior, GaussianLaw(17)});
  }
}

// --- longer steps --------------------------------------------------------------------------------

// With known activations: where EM's step for the squared error ends if `truth` gave the counts.
Matrix gaussian_em_step(const Matrix& x, const Matrix& now, const Matrix& truth) {
  const Matrix wanted = (x * truth.transpose()).transpose() * x;
  const Matrix had = (x * now.transpose()).transpose() * x;
  return now.cwiseProduct(wanted.cwiseQuotient(had));
}

// Newton's step for a quadratic ends at the truth, but for what the ridge leaves; the noise does
// not matter.
TEST(GaussianLearning, LongerStepsOfTheBasisKnowTheLaw) {
  constexpr double kRidgeOfStep = 0.01;
  const Matrix states = three_states().finite_chain().joint_states();
  const Vector law = stationary_law(three_states().finite_chain().axes[0].transition);
  const Matrix x = law.cwiseSqrt().asDiagonal() * states;
  const Matrix truth = true_basis();
  const Matrix now = perturbed(truth, 0.1, 5);
  for (const double noise : {0.1, 1.0, 10.0}) {
    BasisCurvature curvature;
    curvature.measure({now, three_states(), GaussianLaw(noise)}, kRidgeOfStep);
    const Matrix by_em = gaussian_em_step(x, now, truth);
    Matrix basis = by_em;
    curvature.lengthen_step(now, basis);
    EXPECT_GT((by_em - truth).norm(), 0.5 * (now - truth).norm());
    EXPECT_LT((basis - truth).norm(), 0.25 * (now - truth).norm()) << noise;
  }
}

}  // namespace
}  // namespace headwater
