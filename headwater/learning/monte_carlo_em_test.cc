#include "headwater/learning/monte_carlo_em.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

AnyPrior selection() { return AnyPrior(BasisSelection(2, 0.8571, 0.6926)); }

Matrix basis_of_the_data() { return random_basis(4, 2, 8, 1); }

Matrix record_of(Index length) {
  return reference::simulate_record(selection(), basis_of_the_data(), length, 2);
}

Estimate start() {
  return {reference::perturbed(basis_of_the_data(), 0.3, 3), AnyPrior(BasisSelection(2, 0.8, 0.6))};
}

BatchEmOptions options_for(std::int64_t iterations) {
  BatchEmOptions options;
  options.max_iterations = iterations;
  options.tolerance = 0;
  options.unseen_past = false;
  return options;
}

MakeEngine exact_engines() {
  return [](const Estimate& estimate, std::int64_t) {
    ExactEngineOptions options;
    options.smoother = ExactEngineOptions::Smoother::kForward;
    return std::make_unique<ExactEngine>(estimate.prior, estimate.basis, options);
  };
}

MakeEngine particle_engines(Index num_particles, Index lag = 0) {
  const auto pool = std::make_shared<ThreadPool>(1);
  return [=](const Estimate& estimate, std::int64_t iteration) {
    ParticleEngineOptions options;
    options.filter.num_particles = num_particles;
    options.filter.seed = 1 + (static_cast<std::uint64_t>(iteration) << 32);
    options.window.lag = lag;
    return std::make_unique<ParticleEngine>(estimate.prior, estimate.basis, options, pool);
  };
}

// With an engine that does not estimate, this is batch EM.
TEST(MonteCarloEm, IsBatchEmWithTheExactEngine) {
  const Matrix record = record_of(200);
  const BatchEmResult expected = batch_em(Record(record), start(), options_for(15));
  std::vector<double> told;
  const BatchEmResult found =
      monte_carlo_em(Record(record), start(), options_for(15), exact_engines(),
                     [&](std::int64_t iteration, double log_likelihood, const Estimate&) {
                       EXPECT_EQ(iteration, static_cast<std::int64_t>(told.size()));
                       told.push_back(log_likelihood);
                     });
  ASSERT_EQ(found.log_likelihood.size(), 16u);
  EXPECT_EQ(told, found.log_likelihood);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(found.log_likelihood[i], expected.log_likelihood[i],
                1e-9 * std::abs(expected.log_likelihood[i]));
  }
  EXPECT_LT(reference::largest_relative_difference(found.last.basis, expected.estimate.basis),
            1e-9);
  EXPECT_NEAR(found.last.prior.parameters()[0].value(0),
              expected.estimate.prior.parameters()[0].value(0), 1e-9);
}

TEST(MonteCarloEm, ReturnsTheMeanOfTheLastIterates) {
  const Matrix record = record_of(100);
  for (const std::int64_t iterations : {1, 2, 7, 30}) {
    std::vector<Matrix> bases;
    const BatchEmResult found =
        monte_carlo_em(Record(record), start(), options_for(iterations), exact_engines(),
                       [&](std::int64_t, double, const Estimate& e) { bases.push_back(e.basis); });
    const std::int64_t count = std::min<std::int64_t>(10, (iterations + 1) / 2);
    Matrix mean = Matrix::Zero(4, 2);
    for (std::int64_t i = 0; i < count; ++i) {
      mean += bases[static_cast<std::size_t>(iterations - i)] / static_cast<double>(count);
    }
    EXPECT_EQ(found.iterations, iterations);
    EXPECT_LT(reference::largest_relative_difference(found.estimate.basis, mean), 1e-12);
    EXPECT_EQ(found.last.basis, bases.back());
  }
}

// 400 particles for the exact filter's law, ten iterates averaged: the noise of an expectation over
// 500 observations is about sqrt(1 / (400 * 500 * 10)) = .0007 of what it is in one, and entries of
// the basis are ratios of such sums. .01 is more than ten times that, and a fifth of the standard
// error that 500 observations leave.
TEST(MonteCarloEm, AgreesWithBatchEm) {
  const Matrix record = record_of(500);
  const BatchEmResult expected = batch_em(Record(record), start(), options_for(60));
  const BatchEmResult found =
      monte_carlo_em(Record(record), start(), options_for(60), particle_engines(400, 20));
  EXPECT_LT(relative_error(found.estimate.basis, expected.estimate.basis), 0.01);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(found.estimate.prior.parameters()[i].value(0),
                expected.estimate.prior.parameters()[i].value(0), 0.01);
  }
  EXPECT_NEAR(found.log_likelihood.back(), expected.log_likelihood.back(), 5);
}

// Each value has a standard deviation of some nats; the climb is more than a hundred. The prior is
// held, since gamma's M-step, by moments, may lose at first.
TEST(MonteCarloEm, TheLikelihoodClimbs) {
  const Matrix record =
      reference::simulate_record(AnyPrior(GammaPrior(2, 2, 0.7)), basis_of_the_data(), 200, 2);
  const Estimate from{Matrix::Ones(4, 2) + random_basis(4, 2, 0.5, 5),
                      AnyPrior(GammaPrior(2, 2, 0.7))};
  BatchEmOptions options = options_for(20);
  options.m_step.held_parameters = {"shape", "persistence"};
  const auto values =
      monte_carlo_em(Record(record), from, options, particle_engines(200)).log_likelihood;
  EXPECT_GT(values[3], values[0]);
  EXPECT_GT(values.back(), values[0] + 100);
}

TEST(MonteCarloEm, WhatIsHeldKeepsItsBits) {
  const Matrix record = record_of(100);
  BatchEmOptions options = options_for(9);
  options.m_step.held_parameters = {"stay_on"};
  const Estimate from{start().basis, AnyPrior(BasisSelection(2, 0.8, 0.61))};
  const Estimate one = monte_carlo_em(Record(record), from, options, particle_engines(50)).estimate;
  EXPECT_EQ(one.prior.parameters()[1].value(0), 0.61);
  EXPECT_NE(one.prior.parameters()[0].value(0), 0.8);
  options.m_step = {};
  options.m_step.hold_basis = true;
  const Estimate other =
      monte_carlo_em(Record(record), from, options, particle_engines(50)).estimate;
  EXPECT_EQ(other.basis, from.basis);
  EXPECT_NE(other.prior.parameters()[1].value(0), 0.61);
}

TEST(MonteCarloEm, StopsWhenItGainsNoMore) {
  const Matrix record = record_of(200);
  BatchEmOptions options = options_for(500);
  options.tolerance = 1e-5;
  for (const MakeEngine& engines : {exact_engines(), particle_engines(100)}) {
    const BatchEmResult found = monte_carlo_em(Record(record), start(), options, engines);
    EXPECT_TRUE(found.converged);
    EXPECT_GE(found.iterations, 19);
    EXPECT_LT(found.iterations, 500);
    EXPECT_EQ(found.log_likelihood.size(), static_cast<std::size_t>(found.iterations) + 1);
  }
  options.max_iterations = 25;
  options.tolerance = 0;
  const BatchEmResult all = monte_carlo_em(Record(record), start(), options, particle_engines(100));
  EXPECT_FALSE(all.converged);
  EXPECT_EQ(all.iterations, 25);
}

// A count where no source reaches is impossible however the rest is fitted.
TEST(MonteCarloEm, ImpossibleObservationsAreCountedAndEndTheClimb) {
  Matrix basis = basis_of_the_data();
  basis.row(3).setZero();
  Matrix record = reference::simulate_record(selection(), basis, 60, 2);
  record(3, 10) = 4;
  BatchEmOptions options = options_for(100);
  options.tolerance = 1e-6;
  options.m_step.drop_weak_priors();
  const BatchEmResult found =
      monte_carlo_em(Record(record), {basis, selection()}, options, particle_engines(50));
  EXPECT_EQ(found.impossible_observations, 1);
  EXPECT_TRUE(found.converged);
  EXPECT_TRUE(found.estimate.basis.allFinite());
}

}  // namespace
}  // namespace headwater
