#include "headwater/learning/batch_em.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/engines/exact_batch.hpp"
#include "headwater/error.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

void expect_never_falls(const std::vector<double>& log_likelihood) {
  for (std::size_t i = 1; i < log_likelihood.size(); ++i) {
    EXPECT_GE(log_likelihood[i], log_likelihood[i - 1] - 1e-10 * std::abs(log_likelihood[i - 1]))
        << "iteration " << i;
  }
}

double log_likelihood(const Estimate& estimate, const Matrix& record) {
  return ExactBatch(estimate.prior.finite_chain(), estimate.basis, Record(record)).log_likelihood();
}

// Several lengths and starts, far and near, with and without learning the prior.
TEST(BatchEm, TheLikelihoodNeverFallsAndEndsAboveTheTruths) {
  for (const Index length : {200, 2000}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const AnyPrior truth(BasisSelection(3, 0.9, 0.8));
      const Matrix basis = random_basis(6, 3, 8, seed);
      const Matrix record = reference::simulate_record(truth, basis, length, seed);
      BatchEmOptions options;
      options.max_iterations = 400;
      options.tolerance = 0;
      if (seed % 2 == 0) options.m_step.held_parameters = {"stay_off", "stay_on"};
      const BatchEmResult result =
          batch_em(Record(record), {reference::perturbed(basis, 0.4, seed), truth}, options);
      expect_never_falls(result.log_likelihood);
      EXPECT_EQ(result.iterations, 400);
      EXPECT_GE(result.log_likelihood.back(), log_likelihood({basis, truth}, record));
      EXPECT_NEAR(result.log_likelihood.back(), log_likelihood(result.estimate, record), 1e-9);
    }
  }
}

TEST(BatchEm, TheLikelihoodNeverFallsForAFinitePrior) {
  const AnyPrior truth(FiniteStatePrior::one_hot(3, 0.8));
  const Matrix basis = random_basis(5, 3, 4, 2);
  const Matrix record = reference::simulate_record(truth, basis, 300, 3);
  BatchEmOptions options;
  options.tolerance = 0;
  const BatchEmResult result =
      batch_em(Record(record), {reference::perturbed(basis, 0.5, 1), truth}, options);
  expect_never_falls(result.log_likelihood);
  EXPECT_GE(result.log_likelihood.back(), log_likelihood({basis, truth}, record));
}

// On a short record the first state counts for much. Wherever the prior's parameters start,
// the likelihood never falls and ends above that of the truth.
TEST(BatchEm, ShortRecordsEndAboveTheTruth) {
  const AnyPrior truth(BasisSelection(3, 0.97, 0.95));
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix basis = random_basis(6, 3, 10, seed);
    const Matrix record = reference::simulate_record(truth, basis, 30, seed);
    BatchEmOptions options;
    options.max_iterations = 3000;
    options.tolerance = 1e-12;
    for (const auto& [p, q] : {std::pair{0.9, 0.7}, std::pair{0.5, 0.5}, std::pair{0.97, 0.95}}) {
      const BatchEmResult result =
          batch_em(Record(record), {basis, AnyPrior(BasisSelection(3, p, q))}, options);
      expect_never_falls(result.log_likelihood);
      EXPECT_GE(result.log_likelihood.back(), log_likelihood({basis, truth}, record));
    }
  }
}

TEST(BatchEm, StrongPriorsAreObeyed) {
  const AnyPrior prior(BasisSelection(2, 0.9, 0.8));
  const Matrix basis = random_basis(4, 2, 8, 1);
  const Matrix record = reference::simulate_record(prior, basis, 200, 2);
  BatchEmOptions options;
  options.m_step.transition_weight = 1e6;  // Beta(1e6, 1e6): one half
  const BatchEmResult result = batch_em(Record(record), {basis, prior}, options);
  EXPECT_NEAR(result.estimate.prior.parameters()[0].value(0), 0.5, 1e-3);
  EXPECT_NEAR(result.estimate.prior.parameters()[1].value(0), 0.5, 1e-3);
}

// One iteration written out with sums over every path.
TEST(BatchEm, OneIterationIsTheRatioOfExpectedStatistics) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.6));
  const Matrix basis = random_basis(3, 2, 5, 1);
  const Matrix record = reference::simulate_record(prior, basis, 5, 2);
  BatchEmOptions options;
  options.max_iterations = 1;
  options.unseen_past = false;
  options.m_step.drop_weak_priors();
  const BatchEmResult result = batch_em(Record(record), {basis, prior}, options);
  const FiniteChain chain = prior.finite_chain();
  const Statistics s = reference::sum_over_paths(chain, chain.joint_states(), basis, record,
                                                 std::vector<double>(5, 1.0))
                           .statistics;
  for (Index k = 0; k < 2; ++k) {
    EXPECT_LT((result.estimate.basis.col(k) - s.s2.col(k) / s.s1[k]).cwiseAbs().maxCoeff(), 1e-12);
  }
  const Vector n = s.s3.head(4) + s.s3.tail(4);
  EXPECT_NEAR(result.estimate.prior.parameters()[0].value(0), n[0] / (n[0] + n[1]), 1e-12);
  EXPECT_NEAR(result.estimate.prior.parameters()[1].value(0), n[3] / (n[2] + n[3]), 1e-12);
}

// The unseen past is what it says: the same as that many observations in front with nothing seen.
TEST(BatchEm, TheUnseenPastIsARowOfMissingObservations) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.6));
  const Matrix basis = random_basis(3, 2, 5, 1);
  const Matrix record = reference::simulate_record(prior, basis, 4, 2);
  Matrix longer = Matrix::Constant(3, 7, std::numeric_limits<double>::quiet_NaN());
  longer.rightCols(4) = record;
  const FiniteChain chain = prior.finite_chain();
  const Statistics lead_in = ExactBatch(chain, basis, Record(record)).statistics(true, 3);
  const Statistics padded = ExactBatch(chain, basis, Record(longer)).statistics(true);
  EXPECT_LT(reference::largest_relative_difference(4 * lead_in.s3, 7 * padded.s3), 1e-12);
  EXPECT_LT(reference::largest_relative_difference(4 * lead_in.s2, 7 * padded.s2), 1e-12);
}

TEST(BatchEm, StopsWhenItGainsLittle) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.6));
  const Matrix basis = random_basis(4, 2, 8, 1);
  const Matrix record = reference::simulate_record(prior, basis, 1000, 2);
  BatchEmOptions options;
  options.tolerance = 1e-6;
  const BatchEmResult result = batch_em(Record(record), {basis, prior}, options);
  EXPECT_TRUE(result.converged);
  EXPECT_LT(result.iterations, options.max_iterations);
  const auto& values = result.log_likelihood;
  EXPECT_LT(values.back() - values[values.size() - 2], 1e-6 * std::abs(values.back()));
}

// A channel that was never above zero, a component too many, a channel that was never seen.
TEST(BatchEm, DegenerateDataGiveFiniteEstimates) {
  Matrix record = reference::simulate_record(AnyPrior(BasisSelection(1, 0.8, 0.6)),
                                             (Matrix(3, 1) << 4, 2, 1).finished(), 200, 1);
  record.row(1).setZero();
  record.row(2).setConstant(std::numeric_limits<double>::quiet_NaN());
  const Estimate start{random_basis(3, 3, 5, 1), AnyPrior(BasisSelection(3, 0.8, 0.6))};
  const BatchEmResult result = batch_em(Record(record), start, {});
  EXPECT_TRUE(result.estimate.basis.allFinite());
  EXPECT_TRUE(std::isfinite(result.log_likelihood.back()));
  EXPECT_EQ(result.estimate.basis.row(2), start.basis.row(2));
  EXPECT_LT(result.estimate.basis.row(1).maxCoeff(), 1e-3);
  const Matrix zeros = Matrix::Zero(3, 50);
  EXPECT_TRUE(batch_em(Record(zeros), start, {}).estimate.basis.allFinite());
}

}  // namespace
}  // namespace headwater
