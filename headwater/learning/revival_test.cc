#include "headwater/learning/revival.hpp"

#include <gtest/gtest.h>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

// Statistics under which the M-step leaves the basis where it is.
Statistics statistics_of(const Matrix& basis, const Vector& activations) {
  Statistics statistics(basis.rows(), basis.cols(), 0);
  statistics.s1 = activations;
  statistics.s2 = basis * activations.asDiagonal();
  statistics.count_observation(1e-3);
  return statistics;
}

Matrix m_step(const Statistics& statistics, const Matrix& basis) {
  MStepOptions options;
  options.drop_weak_priors();
  Matrix updated = basis;
  MStep(options, basis, AnyPrior(BasisSelection(3, 0.8, 0.7))).update_basis(statistics, updated);
  return updated;
}

TEST(FindIdle, FindsNothingInAHealthyBasis) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Matrix basis = random_basis(6, 4, 5, seed);
    EXPECT_FALSE(find_idle(statistics_of(basis, Vector::Constant(4, 0.3)), basis, 4));
  }
  // A tenth of the others' counts is little, and not dead.
  Matrix basis = random_basis(6, 3, 5, 1);
  basis.col(2) *= 0.1;
  EXPECT_FALSE(find_idle(statistics_of(basis, Vector::Ones(3)), basis, 3));
}

TEST(FindIdle, FindsAComponentWithNextToNoCounts) {
  Matrix basis = random_basis(6, 3, 5, 1);
  basis.col(1) *= 1e-4;
  const auto dead_column = find_idle(statistics_of(basis, Vector::Ones(3)), basis, 3);
  ASSERT_TRUE(dead_column);
  EXPECT_EQ(dead_column->component, 1);
  EXPECT_EQ(dead_column->like, -1);

  basis = random_basis(6, 3, 5, 1);
  const auto never_on = find_idle(statistics_of(basis, Vector{{1, 1, 1e-5}}), basis, 3);
  ASSERT_TRUE(never_on);
  EXPECT_EQ(never_on->component, 2);
}

TEST(FindIdle, FindsTheLesserOfTwoThatAreTheSame) {
  Matrix basis = random_basis(6, 4, 5, 1);
  basis.col(3) = 1.5 * basis.col(1);
  const auto smaller_column = find_idle(statistics_of(basis, Vector::Ones(4)), basis, 4);
  ASSERT_TRUE(smaller_column);
  EXPECT_EQ(smaller_column->component, 1);
  EXPECT_EQ(smaller_column->like, 3);
  const auto less_often = find_idle(statistics_of(basis, Vector{{1, 1, 1, 0.1}}), basis, 4);
  ASSERT_TRUE(less_often);
  EXPECT_EQ(less_often->component, 3);
  EXPECT_EQ(less_often->like, 1);
}

// The background, a last column, is nobody's double and never idle.
TEST(FindIdle, LeavesTheBackgroundAlone) {
  Matrix basis = random_basis(6, 3, 5, 1);
  basis.col(2) = basis.col(0);
  EXPECT_FALSE(find_idle(statistics_of(basis, Vector::Ones(3)), basis, 2));
  basis.col(2) *= 1e-9;
  EXPECT_FALSE(find_idle(statistics_of(basis, Vector::Ones(3)), basis, 2));
}

TEST(FindIdle, FindsNothingWhereThereAreNoCounts) {
  const Matrix basis = Matrix::Zero(4, 3);
  EXPECT_FALSE(find_idle(statistics_of(basis, Vector::Zero(3)), basis, 3));
}

TEST(Revive, GivesAVariationOfTheBusiestColumn) {
  Matrix basis = random_basis(6, 3, 5, 1);
  basis.col(2) *= 2;
  const Matrix before = basis;
  Statistics statistics = statistics_of(basis, Vector{{0.3, 0.2, 0.4}});
  revive(0, 3, 1, 1000, statistics, basis);
  EXPECT_EQ(basis.rightCols(2), before.rightCols(2));
  const Vector ratio = basis.col(0).cwiseQuotient(basis.col(2));
  EXPECT_GT(ratio.minCoeff(), 0.5);
  EXPECT_LT(ratio.maxCoeff(), 1.5);
  EXPECT_GT(ratio.maxCoeff() - ratio.minCoeff(), 0.1);
  EXPECT_FALSE(find_idle(statistics, basis, 3));
}

// The busiest other one: a component that has most of the counts itself is not its own model.
TEST(Revive, TakesAnotherComponentThanItself) {
  Matrix basis = random_basis(6, 2, 5, 1);
  basis.col(0) *= 100;
  const Vector other = basis.col(1);
  Statistics statistics = statistics_of(basis, Vector::Ones(2));
  revive(0, 2, 1, 1000, statistics, basis);
  EXPECT_LT(basis.col(0).cwiseQuotient(other).maxCoeff(), 1.5);
}

TEST(Revive, TheMStepReproducesTheNewColumn) {
  for (const bool has_gaps : {false, true}) {
    Matrix basis = random_basis(6, 3, 5, 1);
    Statistics statistics = statistics_of(basis, Vector{{0.3, 1e-9, 0.4}});
    if (has_gaps) {
      statistics.unseen = Matrix::Constant(6, 3, 0.1) * statistics.s1.asDiagonal();
      statistics.unseen.row(3) *= 5;
      statistics.s2 =
          basis.cwiseProduct(statistics.s1.transpose().replicate(6, 1) - statistics.unseen);
    }
    revive(1, 3, 1, 1000, statistics, basis);
    const Matrix updated = m_step(statistics, basis);
    EXPECT_LT(reference::largest_relative_difference(updated, basis), 1e-14) << has_gaps;
  }
}

TEST(Revive, DependsOnTheSeedAndTheTime) {
  const Matrix start = random_basis(6, 3, 5, 1);
  const auto revived = [&](std::uint64_t seed, std::int64_t time) {
    Matrix basis = start;
    Statistics statistics = statistics_of(basis, Vector::Ones(3));
    revive(1, 3, seed, time, statistics, basis);
    return basis;
  };
  EXPECT_EQ(revived(1, 1000), revived(1, 1000));
  EXPECT_NE(revived(1, 1000), revived(2, 1000));
  EXPECT_NE(revived(1, 1000), revived(1, 2000));
}

constexpr Index kRevivalLength = 10000;

struct Outcome {
  double error;
  std::int64_t revivals;
  std::vector<std::int64_t> times;
};

AnyPrior revival_selection() { return AnyPrior(BasisSelection(3, 0.8571, 0.6926)); }

Outcome learn(const Matrix& truth, const Matrix& start, std::int64_t revive_after,
              std::uint64_t seed) {
  const Matrix record =
      reference::simulate_record(revival_selection(), truth, kRevivalLength, seed);
  OnlineEmOptions options;
  options.revive_after = revive_after;
  options.lengthen_steps = false;  // they part equal columns by themselves
  OnlineEm learner(std::make_unique<ExactEngine>(revival_selection(), start, ExactEngineOptions{}),
                   {start, revival_selection()}, options);
  Outcome outcome{};
  for (Index t = 0; t < kRevivalLength; ++t) {
    const StepReport report = learner.update(as_span(record.col(t)));
    if (report.revived >= 0) outcome.times.push_back(report.t);
  }
  learner.finish();
  outcome.error = relative_error(in_order_of(learner.reported().basis, truth), truth);
  outcome.revivals = learner.revivals();
  return outcome;
}

Matrix with_dead_column(Matrix basis) {
  basis.col(2).setConstant(1e-9);
  return basis;
}

Matrix with_equal_columns(Matrix basis) {
  basis.col(2) = basis.col(1) = (basis.col(1) + basis.col(2)) / 2;
  return basis;
}

// A fit of 10,000 observations from a good start errs by .010 to .013, and so do those that are
// revived after 1,000. Of equal columns each has the same share of every count; only rounding parts
// them, so late that the average over the stream is still .07 or more off.
TEST(OnlineEmRevival, LeadsOutOfEqualColumns) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Matrix truth = random_basis(6, 3, 10, seed);
    const Matrix start = with_equal_columns(truth);
    const Outcome with = learn(truth, start, 1000, seed);
    const Outcome without = learn(truth, start, 0, seed);
    EXPECT_LT(with.error, 0.025);
    EXPECT_GE(with.revivals, 1);
    EXPECT_GT(without.error, 2 * with.error);
    EXPECT_EQ(without.revivals, 0);
  }
}

// Without its third source a fit has at least that column's share of the norm wrong, about .5.
TEST(OnlineEmRevival, LeadsOutOfADeadColumn) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Matrix truth = random_basis(6, 3, 10, seed);
    const Matrix start = with_dead_column(truth);
    const Outcome with = learn(truth, start, 1000, seed);
    const Outcome without = learn(truth, start, 0, seed);
    EXPECT_LT(with.error, 0.025);
    EXPECT_EQ(with.revivals, 1);
    EXPECT_GT(without.error, 0.25);
    EXPECT_EQ(without.revivals, 0);
  }
}

// One source too many for the data: revived ever more rarely.
TEST(OnlineEmRevival, ComesAtMostOncePerDoubling) {
  Matrix truth = random_basis(6, 3, 10, 1);
  truth.col(2).setZero();
  const Outcome outcome = learn(truth, with_dead_column(truth), 500, 1);
  EXPECT_EQ(outcome.revivals, static_cast<std::int64_t>(outcome.times.size()));
  ASSERT_FALSE(outcome.times.empty());
  EXPECT_GE(outcome.times.front(), 500);
  for (std::size_t i = 1; i < outcome.times.size(); ++i) {
    EXPECT_GE(outcome.times[i], 2 * outcome.times[i - 1]);
  }
}

TEST(OnlineEmRevival, LeavesAHeldBasisAlone) {
  const Matrix start = with_equal_columns(random_basis(6, 3, 10, 1));
  const Matrix record = reference::simulate_record(revival_selection(), start, 3000, 1);
  OnlineEmOptions options;
  options.m_step.hold_basis = true;
  OnlineEm learner(std::make_unique<ExactEngine>(revival_selection(), start, ExactEngineOptions{}),
                   {start, revival_selection()}, options);
  for (Index t = 0; t < 3000; ++t) learner.update(as_span(record.col(t)));
  EXPECT_EQ(learner.revivals(), 0);
  EXPECT_EQ(learner.last().basis, start);
}

}  // namespace
}  // namespace headwater
