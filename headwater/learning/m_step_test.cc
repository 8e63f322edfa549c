#include "headwater/learning/m_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"

namespace headwater {
namespace {

Statistics statistics_of(const Vector& s1, const Matrix& s2, const Vector& s3, double count) {
  Statistics statistics(s2.rows(), s2.cols(), s3.size());
  statistics.s1 = s1;
  statistics.s2 = s2;
  statistics.s3 = s3;
  statistics.squared_weights = 1 / count;
  return statistics;
}

MStepOptions as_printed() {
  MStepOptions options;
  options.drop_weak_priors();
  return options;
}

const Vector kS1 = (Vector(2) << 0.5, 0.25).finished();
const AnyPrior kMStepPrior(BasisSelection(2, 0.5, 0.5));
const Matrix kS2 = (Matrix(3, 2) << 1, 2, 0, 1, 4, 0).finished();

TEST(MStep, IsTheRatioOfTheStatistics) {
  Matrix basis = Matrix::Ones(3, 2);
  MStep(as_printed(), basis, kMStepPrior).update_basis(statistics_of(kS1, kS2, {}, 100), basis);
  EXPECT_EQ(basis, (Matrix(3, 2) << 2, 8, 0, 4, 8, 0).finished());
}

// B = (S2 + (shape - 1) / n) / (S1 + (rate / mean) / n).
TEST(MStep, GammaPriorWeighsAsPseudoObservations) {
  MStepOptions options = as_printed();
  options.basis_shape = 3;
  options.basis_rate = 5;
  Matrix basis = Matrix::Constant(3, 2, 2);
  MStep(options, basis, kMStepPrior).update_basis(statistics_of(kS1, kS2, {}, 50), basis);
  for (Index m = 0; m < 3; ++m) {
    for (Index k = 0; k < 2; ++k) {
      EXPECT_DOUBLE_EQ(basis(m, k), (kS2(m, k) + 2.0 / 50) / (kS1[k] + 5.0 / 2 / 50));
    }
  }
}

// B = (S2 + c / n) / (S1 + c / (channel column) / n): without evidence, channel column.
TEST(MStep, AnExpectationWeighsAsSoManyCounts) {
  MStepOptions options = as_printed();
  options.expectation = {0.5, Vector{{2, 1, 0.1}}, Vector{{3, 0.4}}};
  Matrix basis = Matrix::Ones(3, 2);
  MStep(options, basis, kMStepPrior).update_basis(statistics_of(kS1, kS2, {}, 50), basis);
  for (Index m = 0; m < 3; ++m) {
    for (Index k = 0; k < 2; ++k) {
      const double expected = options.expectation.channels[m] * options.expectation.columns[k];
      EXPECT_DOUBLE_EQ(basis(m, k), (kS2(m, k) + 0.5 / 50) / (kS1[k] + 0.5 / expected / 50));
    }
  }
  options.drop_weak_priors();
  EXPECT_FALSE(options.expectation.any());
}

TEST(MStep, FloorIsRelativeToTheChannelsScale) {
  MStepOptions options = as_printed();
  options.basis_floor = 0.01;
  Matrix basis = (Matrix(3, 2) << 1, 3, 20, 40, 5, 7).finished();
  MStep(options, basis, kMStepPrior).update_basis(statistics_of(kS1, kS2, {}, 50), basis);
  EXPECT_DOUBLE_EQ(basis(1, 0), 0.01 * 30);
  EXPECT_DOUBLE_EQ(basis(2, 1), 0.01 * 6);
  EXPECT_EQ(basis(0, 0), 2);
}

TEST(MStep, AComponentThatWasNeverOnStaysAsItIs) {
  Matrix basis = (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished();
  const Vector s1 = (Vector(2) << 0.5, 0).finished();
  Matrix s2 = kS2;
  s2.col(1).setZero();
  for (const MStepOptions& options : {as_printed(), MStepOptions{}}) {
    Matrix updated = basis;
    MStep(options, updated, kMStepPrior).update_basis(statistics_of(s1, s2, {}, 10), updated);
    EXPECT_EQ(updated.col(1), basis.col(1));
    EXPECT_TRUE(updated.allFinite());
  }
}

// Channel 2 was seen half of the time that component 1 was on, channel 3 never.
TEST(MStep, ChannelsAreDividedByWhatWasSeenOfThem) {
  Statistics statistics = statistics_of(kS1, kS2, {}, 10);
  statistics.unseen = Matrix::Zero(3, 2);
  statistics.unseen(1, 0) = 0.25;
  statistics.unseen.row(2) = kS1.transpose();
  statistics.s2.row(1) << 1, 1;
  Matrix basis = Matrix::Constant(3, 2, 7);
  MStep(as_printed(), basis, kMStepPrior).update_basis(statistics, basis);
  EXPECT_EQ(basis(0, 0), 2);
  EXPECT_EQ(basis(1, 0), 4);
  EXPECT_EQ(basis(2, 0), 7);
  EXPECT_EQ(basis(2, 1), 7);
}

// With next to no evidence the ratio of the statistics could be anything: the prior keeps the
// column on the scale of the others.
TEST(MStep, AComponentThatIsHardlyOnStaysInScale) {
  Matrix basis = (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished();
  Matrix s2 = kS2;
  s2.col(1).setConstant(1e-300);
  MStep(MStepOptions{}, basis, kMStepPrior)
      .update_basis(statistics_of((Vector(2) << 0.5, 1e-200).finished(), s2, {}, 100), basis);
  const Vector scales = (Vector(3) << 1.5, 3.5, 5.5).finished();
  EXPECT_LT((basis.col(1) - scales).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(MStep, HeldThingsStay) {
  MStepOptions options;
  options.hold_basis = true;
  options.held_parameters = {"stay_off"};
  Matrix basis = Matrix::Ones(3, 2);
  AnyPrior prior(BasisSelection(1, 0.5, 0.5));
  const Statistics statistics =
      statistics_of(kS1, kS2, (Vector(4) << 0.6, 0.2, 0.1, 0.1).finished(), 1000);
  const MStep m_step(options, basis, prior);
  m_step.update_basis(statistics, basis);
  m_step.update_prior(statistics, prior);
  EXPECT_EQ(basis, Matrix(Matrix::Ones(3, 2)));
  EXPECT_EQ(prior.parameters()[0].value(0), 0.5);
  EXPECT_NEAR(prior.parameters()[1].value(0), 0.5, 1e-6);
  EXPECT_TRUE(learns_prior(options, prior));
  options.held_parameters = {"stay_off", "stay_on"};
  EXPECT_FALSE(learns_prior(options, prior));
}

// p = (n00 + e/n) / (n00 + n01 + 2 e/n): a Beta(1 + e, 1 + e) prior.
TEST(MStep, BetaPriorOnTransitions) {
  MStepOptions options;
  options.transition_weight = 2;
  AnyPrior prior(BasisSelection(1, 0.5, 0.5));
  MStep(options, Matrix::Ones(3, 2), prior)
      .update_prior(statistics_of(kS1, kS2, (Vector(4) << 0.6, 0.2, 0.1, 0.1).finished(), 40),
                    prior);
  EXPECT_NEAR(prior.parameters()[0].value(0), (0.6 + 0.05) / (0.8 + 0.1), 1e-15);
}

TEST(MStep, WithoutAMoveThePriorStays) {
  AnyPrior prior(BasisSelection(1, 0.7, 0.4));
  MStep(MStepOptions{}, Matrix::Ones(3, 2), prior)
      .update_prior(statistics_of(kS1, kS2, Vector::Zero(4), 1), prior);
  EXPECT_EQ(prior.parameters()[0].value(0), 0.7);
  EXPECT_EQ(prior.parameters()[1].value(0), 0.4);
}

TEST(MStep, TransitionPriorLeavesImpossibleMovesImpossible) {
  MStepOptions options;
  options.transition_weight = 1;
  AnyPrior prior(
      FiniteStatePrior(Matrix::Identity(2, 2), (Matrix(2, 2) << 1, 0, 0.5, 0.5).finished()));
  MStep(options, Matrix::Ones(3, 2), prior)
      .update_prior(statistics_of(kS1, kS2, (Vector(4) << 0.5, 0, 0.2, 0.3).finished(), 10), prior);
  EXPECT_EQ(prior.finite_chain().axes[0].transition(0, 1), 0);
}

// log Gamma(B; shape, rate / scale) and log Beta(p; 1 + w, 1 + w), constants left out.
TEST(MStep, LogPriorIsTheWeakPriorsLogDensity) {
  MStepOptions options;
  options.basis_shape = 3;
  options.basis_rate = 2;
  options.transition_weight = 5;
  const Matrix start = Matrix::Constant(1, 1, 4);
  const AnyPrior prior(BasisSelection(1, 0.8, 0.6));
  const MStep m_step(options, start, prior);
  const double found = m_step.log_prior(Matrix::Constant(1, 1, 7), prior);
  EXPECT_NEAR(found, 2 * std::log(7.0) - 2.0 / 4 * 7 + 5 * std::log(0.8 * 0.2 * 0.6 * 0.4), 1e-12);
}

// The scale of IndependentPrior is the mean of x, of which the shape does not depend.
TEST(MStep, LetsTheScaleGoFreeOnlyIfExpanded) {
  const Vector s3 = (Vector(3) << 1, 2.5, 0.3).finished();
  const Statistics statistics = statistics_of(kS1.head(1), kS2.leftCols(1), s3, 100);
  const Matrix basis = Matrix::Ones(3, 1);
  const AnyPrior start(IndependentPrior(1, 1.0));
  for (const bool hold_shape : {false, true}) {
    MStepOptions options = as_printed();
    if (hold_shape) options.held_parameters = {"shape"};
    AnyPrior prior = start;
    const MStep plain(options, basis, start);
    plain.update_prior(statistics, prior);
    EXPECT_EQ(plain.learns(prior), !hold_shape);
    EXPECT_EQ(prior.scale()[0], 1);
    options.scale = Scale::kExpanded;
    const MStep expanded(options, basis, start);
    expanded.update_prior(statistics, prior);
    EXPECT_TRUE(expanded.learns(prior));
    EXPECT_EQ(prior.scale()[0], 2.5);
    EXPECT_EQ(prior.parameters()[0].value(0) == 1, hold_shape);
  }
}

TEST(MStep, IsExpandedWhereThereIsAScaleToLearn) {
  const AnyPrior prior(IndependentPrior(2, 5.0));
  const Matrix basis = Matrix::Ones(3, 2);
  MStepOptions options;
  EXPECT_TRUE(MStep(options, basis, prior).is_expanded());
  EXPECT_FALSE(MStep(as_printed(), basis, prior).is_expanded());
  EXPECT_FALSE(MStep(options, basis, kMStepPrior).is_expanded());  // no scale
  options.hold_basis = true;
  EXPECT_FALSE(MStep(options, basis, prior).is_expanded());
}

// An engine is made before it is known whether the scale is learned, and keeps the statistics.
TEST(MStep, MayLearnAScaleWithAllParametersHeld) {
  MStepOptions options;
  options.held_parameters = {"shape"};
  const AnyPrior prior(IndependentPrior(2, 5.0));
  EXPECT_TRUE(learns_prior(options, prior));
  options.hold_basis = true;
  EXPECT_FALSE(learns_prior(options, prior));
}

// Least squares about 0: with a persistence of 0 the noise is the root of the mean of u^2.
TEST(MStep, IsTheBestGivenWhatIsHeld) {
  MStepOptions options = as_printed();
  options.held_parameters = {"persistence"};
  AnyPrior prior(LogGaussian(1, 0.0, 1));
  const Vector s3 = (Vector(6) << 10, 0, 0, 4, 3, 5).finished();
  MStep(options, Matrix::Ones(3, 1), prior)
      .update_prior(statistics_of(kS1.head(1), kS2.leftCols(1), s3, 100), prior);
  EXPECT_EQ(prior.parameters()[0].value(0), 0);
  EXPECT_DOUBLE_EQ(prior.parameters()[1].value(0), std::sqrt(0.5));
}

}  // namespace
}  // namespace headwater
