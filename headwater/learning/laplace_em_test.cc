#include "headwater/learning/laplace_em.hpp"

#include <gtest/gtest.h>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/learning/laplace_path.hpp"
#include "headwater/learning/refinement.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

constexpr Index kMixedLength = 300;

const Matrix& mixing_truth() {
  static const Matrix truth = (Matrix(5, 2) << 40, 10, 30, 20, 10, 50, 20, 40, 25, 25).finished();
  return truth;
}

// Each column has taken in a part of the other.
Matrix mixed_columns() {
  const Matrix mix = (Matrix(2, 2) << 0.85, 0.15, 0.1, 0.9).finished();
  return mixing_truth() * mix;
}

Record mixing_record(const AnyPrior& prior) {
  return Record(reference::simulate_record(prior, mixing_truth(), kMixedLength, 11));
}

BatchEmOptions mixing_options(std::int64_t iterations) {
  BatchEmOptions options;
  options.max_iterations = iterations;
  options.tolerance = 1e-3;
  return options;
}

TEST(AndersonSteps, EndALinearIterationAfterAsManyStepsAsItHasDirections) {
  const Matrix map = (Matrix(3, 3) << 0.98, 0.01, 0, 0.01, 0.9, 0, 0, 0, 0.3).finished();
  const Vector target = (Vector(3) << 1, -2, 3).finished();
  AndersonSteps steps(5);
  Vector x = Vector::Zero(3);
  for (int i = 0; i < 5; ++i) x = steps.next(x, target + map * (x - target));
  EXPECT_LT((x - target).norm(), 1e-4);  // what the ridge of the combination leaves
  // Without them the slowest direction has gone a tenth of its way.
  Vector plain = Vector::Zero(3);
  for (int i = 0; i < 5; ++i) plain = target + map * (plain - target);
  EXPECT_GT((plain - target).norm(), 0.5);
}

// The same iteration, one plain step after another.
double plain_climb(const Record& record, Estimate now, int iterations) {
  const MStep m_step({}, now.basis, now.prior);
  LaplacePath path(record);
  for (int i = 0; i < iterations; ++i) {
    path.fit(now);
    const Statistics statistics = path.statistics(now, true);
    m_step.update_basis(statistics, now.basis);
    m_step.update_prior(statistics, now.prior);
    now = with_unit_scale(std::move(now));
  }
  return path.fit(now);
}

TEST(LaplaceEm, ReachesInFewIterationsWhatEmReachesInMany) {
  const AnyPrior prior(LogGaussian(2, 0.8, 0.4));
  const Record record = mixing_record(prior);
  const Estimate start{mixed_columns(), prior};
  const BatchEmResult found = laplace_em(record, start, mixing_options(40));
  EXPECT_GT(found.log_likelihood.back(), plain_climb(record, start, 1000) - 0.1);
  EXPECT_GT(found.log_likelihood.back(), plain_climb(record, start, 40) + 1);
}

TEST(LaplaceEm, IsNoWorseThanItsStart) {
  const AnyPrior prior(GammaPrior(2, 2, 0.7));
  const Record record = mixing_record(prior);
  LaplacePath path(record);
  const Estimate start{mixed_columns(), prior};
  const double before = path.fit(start);
  EXPECT_GT(laplace_em(record, start, mixing_options(20)).log_likelihood.back(), before + 1);
}

double distance_of(const Matrix& basis) {
  return (basis - mixing_truth()).norm() / mixing_truth().norm();
}

// One stream with a fixed seed: nothing is random here.
TEST(Refinement, ColumnsThatMixAreSeparated) {
  const AnyPrior prior(LogGaussian(2, 0.5, 0.6));
  const Record record(reference::simulate_record(prior, mixing_truth(), 2000, 12));
  const Estimate now{mixed_columns(), prior};
  const auto found = refined(record, now, {}, {}, {}, 1);
  ASSERT_TRUE(found.has_value());
  EXPECT_LT(distance_of(found->basis), 0.5 * distance_of(now.basis));
}

TEST(Refinement, IsNotDoneForOtherPriorsNorForFewObservations) {
  const AnyPrior finite(BasisSelection(2, 0.8, 0.7));
  EXPECT_EQ(most_to_refine_on({mixing_truth(), finite}), 0);
  const AnyPrior prior(LogGaussian(2, 0.8, 0.4));
  const Record record(reference::simulate_record(prior, mixing_truth(), 100, 12));
  EXPECT_GT(most_to_refine_on({mixing_truth(), prior}), 100000);
  EXPECT_FALSE(refined(record, {mixed_columns(), prior}, {}, {}, {}, 1).has_value());
}

// Once columns are separated, a law that allows for dispersion learns that Poisson counts have
// hardly any. One stream with a fixed seed.
TEST(Refinement, ALookUnderARicherLawFindsNoDispersionInPoissonCounts) {
  const AnyPrior prior(LogGaussian(2, 0.5, 0.6));
  const Record record(reference::simulate_record(prior, mixing_truth(), 2000, 12));
  auto start = refined(record, {mixed_columns(), prior}, {}, {}, {}, 1);
  ASSERT_TRUE(start.has_value());
  start->law = AnyLaw(NegativeBinomial(Vector::Constant(5, 0.1)));
  const Estimate found = refitted_by_look(record, *start, {}, [] {});
  EXPECT_LT(distance_of(found.basis), 0.5 * distance_of(mixed_columns()));
  EXPECT_LT(found.law.parameters()[0].value.maxCoeff(), 0.01);
}

// The estimate that is taken up is the one that is reported, in the average, too.
TEST(Refinement, WhatIsTakenUpIsWhatTheStatisticsSay) {
  const AnyPrior prior(LogGaussian(2, 0.8, 0.4));
  const Record record = mixing_record(prior);
  const BatchEmResult found = laplace_em(record, {mixed_columns(), prior}, mixing_options(100));
  const Statistics statistics = refined_statistics(record, found.estimate, 1, true).front();
  const MStep m_step({}, found.estimate.basis, prior);
  Matrix basis = found.estimate.basis;
  m_step.update_basis(statistics, basis);
  EXPECT_LT((basis - found.estimate.basis).norm(), 0.01 * basis.norm());
}

TEST(Refinement, StretchesAddUpToTheWholeRecord) {
  const AnyPrior prior(LogGaussian(2, 0.8, 0.4));
  const Record record(reference::simulate_record(prior, mixing_truth(), 50, 12));
  const Estimate estimate{mixing_truth(), prior};
  const Statistics whole = refined_statistics(record, estimate, 1, true).front();
  const std::vector<Statistics> stretches = refined_statistics(record, estimate, 7, true);
  ASSERT_EQ(stretches.size(), 7U);
  Statistics sum = whole;
  sum.clear_sums();
  double observations = 0;
  for (const Statistics& stretch : stretches) {
    observations += stretch.effective_count();
    sum.add_sums(stretch, stretch.effective_count() / 50);
  }
  EXPECT_NEAR(observations, 50, 1e-9);
  EXPECT_TRUE(sum.s2.isApprox(whole.s2, 1e-12));
  EXPECT_TRUE(sum.s3.isApprox(whole.s3, 1e-12));
  EXPECT_EQ(refined_statistics(record, estimate, 1000, true).size(), 50U);
}

}  // namespace
}  // namespace headwater
