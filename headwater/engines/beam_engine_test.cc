#include "headwater/engines/beam_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/core/test_numbers.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using reference::run_engine;

BeamEngineOptions beam(Index width, Index lag = 10) {
  BeamEngineOptions options;
  options.filter.width = width;
  options.window.lag = lag;
  return options;
}

ExactEngineOptions exact(Index lag = 10) {
  ExactEngineOptions options;
  options.window.lag = lag;
  return options;
}

void expect_equal(const Statistics& a, const Statistics& b, double tolerance) {
  EXPECT_LT((a.s1 - b.s1).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((a.s2 - b.s2).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((a.s3 - b.s3).cwiseAbs().maxCoeff(), tolerance);
  ASSERT_EQ(a.unseen.size(), b.unseen.size());
  EXPECT_LT((a.unseen - b.unseen).norm(), tolerance);
}

// 90 observations: the window folds several times before the end. Cells are missing, one whole
// observation too, and channel 1, which no source reaches, has a count that nothing explains.
TEST(BeamEngine, WideEnoughItIsTheExactEngine) {
  Matrix states(3, 2);
  states << 0.2, 1, 1.5, 0, 2, 2;
  Matrix transition(3, 3);
  transition << 0.7, 0.2, 0.1, 0.0, 0.5, 0.5, 0.3, 0.3, 0.4;
  const Vector own_off = (Vector(5) << 0.6, 0.95, 0.8, 0.85, 0.9).finished();
  const Vector own_on = (Vector(5) << 0.3, 0.8, 0.7, 0.6, 0.9).finished();
  for (const AnyPrior& prior : {AnyPrior(BasisSelection(5, own_off, own_on)),
                                AnyPrior(FiniteStatePrior(states, transition))}) {
    for (const Index background : {0, 1}) {
      const Index k = prior.num_components();
      Matrix basis = random_basis(6, k + background, 3, 3);
      basis.row(1).setZero();
      Matrix record = reference::simulate_record(prior, basis.leftCols(k), 90, 5);
      record.row(3).segment(7, 9).setConstant(kNaN);
      record.col(41).setConstant(kNaN);
      record(1, 60) = 1;
      BeamEngine narrow(prior, basis, beam(32));
      ExactEngine all(prior, basis, exact());
      const auto run = run_engine(narrow, record);
      const auto truth = run_engine(all, record);
      EXPECT_EQ(run.impossible, truth.impossible);
      EXPECT_NEAR(run.log_likelihood, truth.log_likelihood, 1e-10);
      EXPECT_LT((run.filtered_means - truth.filtered_means).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((narrow.predicted_activation() - all.predicted_activation()).norm(), 1e-12);
      expect_equal(run.statistics, truth.statistics, 1e-12);
    }
  }
}

TEST(BeamEngine, SmoothedActivationsAreTheExactOnes) {
  const AnyPrior prior(BasisSelection(4, 0.8, 0.7));
  const Matrix basis = random_basis(6, 5, 2, 3);
  for (const Index length : {1, 40, 150}) {
    const Matrix record = reference::simulate_record(prior, basis.leftCols(4), length, 5);
    BeamFilter filter(prior.finite_chain(), basis, {16, 1});
    const Matrix means = beam_smoothed_activations(filter, Record(record));
    const Matrix truth =
        ExactBatch(prior.finite_chain(), basis, Record(record)).smoothed_activations();
    // What 18 steps of a chain of contraction .5 leave.
    EXPECT_LT((means - truth).cwiseAbs().maxCoeff(), 1e-5);
  }
}

// K = 12, 4096 states, of which 256 are kept.
TEST(BeamEngine, FewStatesGiveTheMarginals) {
  const AnyPrior prior(BasisSelection(12, 0.8571, 0.6926));
  const Matrix basis = random_basis(50, 12, 1, 3);
  const Matrix record = reference::simulate_record(prior, basis, 60, 5);
  BeamEngine narrow(prior, basis, beam(256));
  ExactEngine all(prior, basis, exact());
  const auto run = run_engine(narrow, record);
  const auto truth = run_engine(all, record);
  EXPECT_LT((run.filtered_means - truth.filtered_means).cwiseAbs().mean(), 0.002);
  EXPECT_NEAR(run.log_likelihood, truth.log_likelihood, 0.5);
  EXPECT_LT((run.statistics.s2 - truth.statistics.s2).norm(), 0.01 * truth.statistics.s2.norm());
}

TEST(BeamEngine, ReportsWhatItLoses) {
  const AnyPrior prior(BasisSelection(20, 0.8571, 0.6926));
  const Matrix basis = random_basis(30, 20, 1, 3);
  const Matrix record = reference::simulate_record(prior, basis, 20, 5);
  double before = 1;
  for (const Index width : {4, 32, 256}) {
    BeamEngine engine(prior, basis, beam(width));
    double lost = 0;
    for (Index t = 0; t < record.cols(); ++t) {
      const FilterStep step = engine.step(as_span(record.col(t)), 1);
      EXPECT_GE(step.beam()->lost_mass, 0);
      EXPECT_LE(step.beam()->num_states, width);
      EXPECT_GE(step.beam()->num_states, 1);
      EXPECT_GT(step.beam()->effective_size, 0);
      lost += step.beam()->lost_mass / static_cast<double>(record.cols());
    }
    EXPECT_LT(lost, before);
    before = lost;
  }
}

TEST(BeamEngine, ACloneGoesOnBitForBit) {
  const AnyPrior prior(BasisSelection(20, 0.8, 0.7));
  const Matrix basis = random_basis(8, 20, 1, 3);
  Matrix record = reference::simulate_record(prior, basis, 60, 5);
  record(2, 11) = kNaN;
  BeamEngine engine(prior, basis, beam(20, 5));
  run_engine(engine, record.leftCols(33));
  const auto clone = engine.clone();
  const auto truth = run_engine(engine, record.rightCols(27));
  const auto run = run_engine(*clone, record.rightCols(27));
  EXPECT_EQ(run.filtered_means, truth.filtered_means);
  EXPECT_EQ(run.statistics.s2, truth.statistics.s2);
  EXPECT_EQ(run.statistics.s3, truth.statistics.s3);
}

// Nothing is on at first, and every channel has counts: the search has to find its way.
TEST(BeamEngine, FindsStatesFarFromWhatWasExpected) {
  const AnyPrior prior(BasisSelection(40, 0.99, 0.5));
  const Matrix basis = 5 * Matrix::Identity(40, 40);
  Matrix record = Matrix::Constant(40, 3, 5.0);
  record.col(1).setZero();
  BeamEngine engine(prior, basis, beam(16));
  EXPECT_FALSE(engine.step(as_span(record.col(0)), 1).impossible);
  EXPECT_LT((engine.filtered_activation() - Vector::Ones(40)).norm(), 1e-6);
  engine.step(as_span(record.col(1)), 1);
  EXPECT_LT(engine.filtered_activation().maxCoeff(), 0.02);
}

// Sources that are alike and large counts: by changes of one source at a time alone, 2.7 of 30 are
// taken for others at a time. The counts tell all but one in a thousand.
TEST(BeamEngine, DoesNotMistakeSourcesForEachOther) {
  const Index components = 30;
  const AnyPrior prior(BasisSelection(components, 0.8571, 0.6926));
  const Matrix dense = random_basis(200, components, 10, 3);
  // A channel that two sources reach alone must not be left by both.
  Matrix sparse = dense;
  for (Index m = 0; m < sparse.rows(); m += 3) {
    for (Index k = 0; k < components; ++k) {
      if (k % 15 != m % 15) sparse(m, k) = 0;
    }
  }
  const auto bases = {dense, sparse};
  for (const Matrix& basis : bases) {
    Simulator stream(prior, basis, 5);
    BeamEngine engine(prior, basis, beam(64));
    const int steps = 1000;
    double mistaken = 0;
    double unsure = 0;
    for (int t = 0; t < steps; ++t) {
      stream.next();
      engine.step(stream.observation(), 1);
      const Eigen::Map<const Vector> truth(stream.activation().data(), components);
      const Eigen::ArrayXd on = engine.filtered_activation();
      mistaken += ((on > 0.5).cast<double>() - truth.array()).abs().sum();
      unsure += on.min(1 - on).sum();
    }
    // A right posterior law expects as many mistakes as it is unsure of. They come in pairs, one
    // source for another, which doubles the variance; an alarm rate of 1e-6 for each basis.
    EXPECT_LT(mistaken, unsure + reference::normal_critical(2e-6) * std::sqrt(2 * unsure));
    // What ARCHITECTURE.md says of sources that reach all channels.
    if (&basis == bases.begin()) {
      EXPECT_LT(mistaken / steps, 0.025);
    }
  }
}

TEST(BeamEngine, SaysWhatItCannotTake) {
  const Matrix basis = Matrix::Ones(2, 65);
  EXPECT_THROW(BeamEngine(AnyPrior(BasisSelection(65, 0.8, 0.7)), basis, beam(10)), UsageError);
  EXPECT_THROW(BeamEngine(AnyPrior(LogGaussian(2, 0.8, 0.7)), basis.leftCols(2), beam(10)),
               UsageError);
}

}  // namespace
}  // namespace headwater
