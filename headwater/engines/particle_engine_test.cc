#include "headwater/engines/particle_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/particle_batch.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/reference/uniform_prior.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using reference::all_of;
using reference::particle_options;
using reference::run_engine;
using reference::run_particles;
using SmootherKind = ParticleEngineOptions::Smoother;

const std::vector<SmootherKind> kSmoothers = {SmootherKind::kLag, SmootherKind::kPath,
                                              SmootherKind::kPathAsPrinted, SmootherKind::kParis,
                                              SmootherKind::kForward};

void expect_same_bits(const Statistics& a, const Statistics& b) {
  EXPECT_EQ(a.s1, b.s1);
  EXPECT_EQ(a.s2, b.s2);
  EXPECT_EQ(a.s3, b.s3);
  ASSERT_EQ(a.unseen.size(), b.unseen.size());
  EXPECT_EQ(a.unseen, b.unseen);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.squared_weights, b.squared_weights);
}

// 5000 particles are ten chunks, and their weights three parts. Only paths need a record longer
// than their window.
TEST(ParticleEngine, ThreadsChangeNoBit) {
  const AnyPrior prior(LogGaussian(2, 0.8, 0.5));
  const Matrix basis = random_basis(4, 3, 3, 3);  // the last for a background
  const Matrix record = reference::simulate_record(prior, basis.leftCols(2), 45, 5);
  for (const SmootherKind smoother : kSmoothers) {
    for (const auto draw : {BackwardDraw::kMcmc, BackwardDraw::kRejection}) {
      if (draw != BackwardDraw::kMcmc && smoother != SmootherKind::kParis) continue;
      const bool is_square = smoother == SmootherKind::kForward;
      auto options = particle_options(smoother, is_square ? 600 : 5000);
      options.backward_draw = draw;
      options.window.block = 4;
      options.window.lag = 3;
      const bool is_path =
          smoother == SmootherKind::kPath || smoother == SmootherKind::kPathAsPrinted;
      const Matrix part = record.leftCols(is_path ? 45 : 8);
      ParticleEngine one(prior, basis, options, reference::threads(1));
      const auto truth = run_engine(one, part);
      for (const int count : {2, 3}) {
        ParticleEngine many(prior, basis, options, reference::threads(count));
        const auto run = run_engine(many, part);
        EXPECT_EQ(many.filter().states(), one.filter().states());
        EXPECT_EQ(many.filter().weights(), one.filter().weights());
        EXPECT_EQ(many.filter().ancestors(), one.filter().ancestors());
        EXPECT_EQ(run.filtered_means, truth.filtered_means);
        EXPECT_EQ(run.log_likelihood, truth.log_likelihood);
        expect_same_bits(run.statistics, truth.statistics);
      }
    }
  }
}

// Guided particles are bridged here in every step.
TEST(ParticleEngine, ThreadsChangeNoBitOfGuidedParticles) {
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(3, 0.8, 0.5)), AnyPrior(GammaPrior(3, 1.5, 0.7)),
        AnyPrior(IndependentPrior(3, 1.5)), AnyPrior(RelaxedSelection(3, 0.8)),
        AnyPrior(BasisSelection(3, 0.8, 0.6))}) {
    const Matrix basis = random_basis(4, 4, 3, 3);  // the last for a background
    const Matrix record = reference::simulate_record(prior, basis.leftCols(3), 8, 5);
    auto options = particle_options(SmootherKind::kLag, 1300);
    options.filter.guided = true;
    options.filter.bridge_below = 1;
    ParticleEngine one(prior, basis, options, reference::threads(1));
    const auto truth = run_engine(one, record);
    ParticleEngine many(prior, basis, options, reference::threads(3));
    const auto run = run_engine(many, record);
    EXPECT_EQ(many.filter().states(), one.filter().states()) << prior.name();
    EXPECT_EQ(many.filter().weights(), one.filter().weights()) << prior.name();
    EXPECT_EQ(run.filtered_means, truth.filtered_means) << prior.name();
    EXPECT_EQ(run.log_likelihood, truth.log_likelihood) << prior.name();
    expect_same_bits(run.statistics, truth.statistics);
  }
}

TEST(ParticleEngine, ACloneGoesOnBitForBit) {
  const AnyPrior prior(GammaPrior(2, 0.8, 0.7));
  const Matrix basis = random_basis(4, 2, 3, 3);
  Matrix record = reference::simulate_record(prior, basis, 80, 5);
  record(2, 11) = kNaN;
  for (const SmootherKind smoother : kSmoothers) {
    auto options = particle_options(smoother, 40);
    options.window.lag = 7;
    options.filter.guided = smoother == SmootherKind::kLag;
    ParticleEngine engine(prior, basis, options, reference::threads(1));
    run_engine(engine, record.leftCols(53));
    const auto clone = engine.clone();
    const auto truth = run_engine(engine, record.rightCols(27));
    const auto run = run_engine(*clone, record.rightCols(27));
    EXPECT_EQ(run.filtered_means, truth.filtered_means);
    expect_same_bits(run.statistics, truth.statistics);
  }
}

TEST(ParticleEngine, SeedsAreApart) {
  const AnyPrior prior(GammaPrior(2, 0.8, 0.7));
  const Matrix basis = random_basis(4, 2, 3, 3);
  const Matrix record = reference::simulate_record(prior, basis, 5, 5);
  const auto mean = [&](std::uint64_t seed) {
    return run_particles(prior, basis, record, particle_options(SmootherKind::kLag, 40, seed))
        .filtered_means;
  };
  EXPECT_EQ(mean(1), mean(1));
  EXPECT_NE(mean(1), mean(2));
}

// Impossible observations enter as if they had been missing: here, a count in a channel whose row
// of the basis is zero.
TEST(ParticleEngine, ImpossibleObservationsAreAsMissing) {
  Matrix basis = random_basis(4, 2, 3, 3);
  basis.row(1).setZero();
  for (const AnyPrior& prior :
       {AnyPrior(RelaxedSelection(2, 0.9)), AnyPrior(BasisSelection(2, 0.8, 0.7))}) {
    Matrix record = reference::simulate_record(prior, basis, 60, 5);
    Matrix with_gaps = record;
    for (const Index t : {0, 1, 17, 40, 59}) {
      record(1, t) = 2;
      with_gaps.col(t).setConstant(kNaN);
    }
    for (const SmootherKind smoother : kSmoothers) {
      const auto options = particle_options(smoother, 50);
      const auto run = run_particles(prior, basis, record, options);
      const auto truth = run_particles(prior, basis, with_gaps, options);
      EXPECT_EQ(run.impossible, 5);
      EXPECT_EQ(truth.impossible, 0);
      EXPECT_NEAR(run.log_likelihood, truth.log_likelihood, 1e-10);
      EXPECT_TRUE(all_of(run.statistics).allFinite());
      EXPECT_LT((all_of(run.statistics) - all_of(truth.statistics)).norm(), 1e-10);
      EXPECT_LT((run.statistics.unseen - truth.statistics.unseen).norm(), 1e-10);
      EXPECT_LT((run.filtered_means - truth.filtered_means).norm(), 1e-10);
    }
  }
}

// Sources that are all off explain no count at all: with few particles, sooner or later none is
// left.
TEST(ParticleEngine, GoesOnWhenNoParticleExplainsTheCounts) {
  const AnyPrior prior(BasisSelection(2, 0.95, 0.5));
  const Matrix basis = random_basis(4, 2, 3, 3);
  const Matrix record = Matrix::Constant(4, 200, 1.0);
  for (const SmootherKind smoother : kSmoothers) {
    for (const double resample_below : {0.0, 0.5, 1.0}) {
      auto options = particle_options(smoother, 3);
      options.filter.resample_below = resample_below;
      const auto run = run_particles(prior, basis, record, options);
      EXPECT_GT(run.impossible, 0);
      EXPECT_TRUE(std::isfinite(run.log_likelihood));
      EXPECT_TRUE(run.filtered_means.allFinite());
      EXPECT_TRUE(all_of(run.statistics).allFinite());
      EXPECT_EQ(run.statistics.observations, 200);
    }
  }
}

// A hidden Markov model with a single axis. Means over 30 seeds, 19 statistics for each of four
// smoothers; an alarm rate of 1e-6 for all.
TEST(ParticleEngine, FinitePriorAgreesWithExactSmoothing) {
  Matrix table(3, 3);
  table << 0.7, 0.2, 0.1, 0.0, 0.5, 0.5, 0.3, 0.3, 0.4;
  const Matrix states = (Matrix(3, 2) << 0.2, 1, 1.5, 0, 2, 2).finished();
  const FiniteStatePrior prior(states, table);
  const Matrix basis = random_basis(4, 2, 1, 3);
  const Matrix record = reference::simulate_record(AnyPrior(prior), basis, 30, 5);
  const Record all(record);
  ExactBatch exact(prior.finite_chain(), basis, all);
  const Vector truth = all_of(exact.statistics(true));
  for (const SmootherKind smoother : {SmootherKind::kLag, SmootherKind::kPath,
                                      SmootherKind::kPathAsPrinted, SmootherKind::kParis}) {
    const Matrix values = reference::over_seeds(30, [&](std::uint64_t seed) {
      auto options = particle_options(smoother, 800, seed);
      options.window.lag = 30;
      return all_of(run_particles(AnyPrior(prior), basis, record, options).statistics);
    });
    EXPECT_LT(reference::largest_z(values, truth), reference::critical_z(values, 4))
        << static_cast<int>(smoother);
  }
}

// 130 observations: the windows of 100 fold once before the end, and the lag of 50 forgets all.
// Means over 30 seeds, 260 of them; an alarm rate of 1e-6. A mean so near 0 or 1 that no particle
// may come to differ is known to some 16 / (30 * 600) at best.
TEST(ParticleBatch, SmoothedActivationsAreTheExactOnes) {
  const BasisSelection prior(2, 0.8, 0.7);
  const Matrix basis = random_basis(4, 2, 1, 3);
  const Matrix record = reference::simulate_record(AnyPrior(prior), basis, 130, 5);
  const Matrix truth =
      ExactBatch(prior.finite_chain(), basis, Record(record)).smoothed_activations();
  const Matrix values = reference::over_seeds(30, [&](std::uint64_t seed) {
    ParticleFilterOptions options;
    options.num_particles = 600;
    options.seed = seed;
    ParticleFilter filter(AnyPrior(prior), basis, options, reference::threads(1));
    return Vector(particle_smoothed_activations(filter, Record(record)).reshaped());
  });
  EXPECT_LT(reference::largest_z(values, truth.reshaped(), 1e-3), reference::critical_z(values));
}

TEST(ParticleBatch, SmoothsRecordsOfAnyLength) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Matrix basis = random_basis(4, 3, 1, 3);
  for (const Index length : {0, 1, 49, 50, 51, 99, 100, 101, 150, 151}) {
    const Matrix record = reference::simulate_record(prior, basis.leftCols(2), length, 5);
    ParticleFilterOptions options;
    options.num_particles = 20;
    ParticleFilter filter(prior, basis, options, reference::threads(1));
    const Matrix means = particle_smoothed_activations(filter, Record(record));
    ASSERT_EQ(means.rows(), length);
    ASSERT_EQ(means.cols(), 3);
    if (length == 0) continue;
    EXPECT_TRUE((means.array() >= 0).all() && (means.array() <= 1 + 1e-9).all());
    EXPECT_LT((means.col(2).array() - 1).abs().maxCoeff(), 1e-9);
    EXPECT_LT((means.bottomRows(1).transpose() - filter.filtered_activation()).norm(), 1e-12);
  }
}

// A prior that can be simulated, and nothing else. Activations below a threshold are no numbers.
struct Simulated : reference::UniformPrior {
  double threshold = 0;

  void activations(ConstStates states, Eigen::Ref<Matrix> x) const {
    x = (states.array() < threshold).select(Matrix::Constant(x.rows(), 1, kNaN), states);
  }
};

// ... and one with a density, but no bound.
struct Unbounded : Simulated {
  void log_transition(ConstStates, ConstStates, Eigen::Ref<Vector> out) const { out.setZero(); }
};

TEST(ParticleEngine, SaysWhatASmootherNeeds) {
  const auto make = [](const AnyPrior& prior, SmootherKind smoother, BackwardDraw draw) {
    auto options = particle_options(smoother, 10);
    options.backward_draw = draw;
    return ParticleEngine(prior, Matrix::Ones(2, 1), options, reference::threads(1));
  };
  const AnyPrior simulated{Simulated()};
  const AnyPrior unbounded{Unbounded()};
  EXPECT_THROW(make(simulated, SmootherKind::kParis, BackwardDraw::kMcmc), UsageError);
  EXPECT_THROW(make(simulated, SmootherKind::kForward, BackwardDraw::kMcmc), UsageError);
  EXPECT_THROW(make(unbounded, SmootherKind::kParis, BackwardDraw::kRejection), UsageError);
  const Matrix record = Matrix::Constant(2, 60, 1.0);
  for (const SmootherKind smoother : kSmoothers) {
    const bool is_backward = smoother == SmootherKind::kParis || smoother == SmootherKind::kForward;
    auto engine = make(is_backward ? unbounded : simulated, smoother, BackwardDraw::kMcmc);
    const auto run = run_engine(engine, record);
    EXPECT_EQ(run.statistics.s3.size(), 0);
    EXPECT_EQ(run.statistics.observations, 60);
    EXPECT_TRUE(all_of(run.statistics).allFinite());
  }
}

TEST(ParticleEngine, ActivationsThatAreNoNumbersEnterNoStatistic) {
  Matrix record = Matrix::Constant(2, 60, 1.0);
  record.col(20).setConstant(kNaN);
  for (const SmootherKind smoother : kSmoothers) {
    for (const double threshold : {0.3, 2.0}) {
      Unbounded prior;
      prior.threshold = threshold;
      auto options = particle_options(smoother, 50);
      options.filter.resample_below = 0.9;
      const auto run = run_particles(AnyPrior(prior), Matrix::Ones(2, 1), record, options);
      EXPECT_EQ(run.impossible, threshold > 1 ? 59 : 0);
      EXPECT_TRUE(run.filtered_means.allFinite());
      EXPECT_TRUE(all_of(run.statistics).allFinite());
      EXPECT_TRUE(run.statistics.unseen.allFinite());
    }
  }
}

}  // namespace
}  // namespace headwater
