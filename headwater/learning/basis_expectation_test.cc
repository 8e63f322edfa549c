#include "headwater/learning/basis_expectation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/expectation_choice.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

Matrix poisson_counts(const Vector& means, Index length, std::uint64_t seed) {
  Generator generator = RandomStream(seed).at(1, 0, Purpose::observation);
  Matrix counts(means.size(), length);
  for (double& count : counts.reshaped()) count = 0;
  for (Index t = 0; t < length; ++t) {
    for (Index m = 0; m < means.size(); ++m) counts(m, t) = poisson(generator, means[m]);
  }
  return counts;
}

// Means drawn from Gamma(.5, .5 / .2): that of a channel without a count in n observations is
// known to be .5 / (2.5 + n). The shape is estimated from 2,000 channels, with a standard error of
// some .02 (information of a negative binomial size); 5 of them, and 5 percent of the mean.
TEST(UsualChannels, AreTheMeansGivenTheTotals) {
  const double shape = 0.5;
  const double mean = 0.2;
  const Index length = 20;
  Generator generator = RandomStream(8).at(1, 0, Purpose::basis);
  Vector means(2000);
  for (double& value : means) value = mean / shape * gamma(generator, shape);
  const Matrix counts = poisson_counts(means, length, 9);
  const Record record(counts);
  const Vector found = usual_channels(record);
  for (Index m = 0; m < found.size(); ++m) {
    const double expected =
        (shape + counts.row(m).sum()) / (shape / mean + static_cast<double>(length));
    EXPECT_NEAR(found[m], expected, 0.25 * shape / static_cast<double>(length) + 0.05 * expected);
    EXPECT_GT(found[m], 0);
  }
}

TEST(UsualChannels, ArePositiveWithoutAnyCount) {
  const Record record(Matrix::Zero(3, 4));
  EXPECT_GT(usual_channels(record).minCoeff(), 0);
  Matrix missing = Matrix::Constant(2, 3, std::nan(""));
  missing(0, 1) = 4;
  const Vector found = usual_channels(Record(missing));
  EXPECT_NEAR(found[0], 4, 1e-9);
  EXPECT_NEAR(found[1], 4, 1e-9);  // never seen: as the others
}

// The means of the channels, and columns that are to each other as in the basis.
TEST(ExpectationAround, GivesEachChannelItsMean) {
  const AnyPrior prior(BasisSelection(2, 0.5, 0.5));  // both on half of the time
  const Matrix basis = (Matrix(3, 3) << 4, 1, 1, 2, 1, 1, 6, 2, 2).finished();
  const Vector channels{{2, 0.001, 7}};
  const BasisExpectation found = expectation_around(basis, prior, channels);
  const Vector activation{{0.5, 0.5, 1}};
  const Matrix expected = found.channels * found.columns.transpose();
  EXPECT_TRUE((expected * activation).isApprox(channels, 1e-12));
  EXPECT_NEAR(found.columns[0] / found.columns[1], 12.0 / 4, 1e-12);
  EXPECT_NEAR(found.columns[1] / found.columns[2], 1, 1e-12);
}

// EM climbs the likelihood times the prior's density.
TEST(BasisExpectation, BatchEmNeverFalls) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Matrix counts = poisson_counts(Vector{{3, 0.2, 1, 0}}, 30, 4);
  MStepOptions m_step;
  m_step.expectation = {2, Vector{{3, 0.2, 1, 0.01}}, Vector{{1, 0.5}}};
  Estimate estimate{(Matrix(4, 2) << 1, 3, 1, 0.1, 2, 1, 0.5, 0.5).finished(), prior};
  double last = -std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 40; ++iteration) {
    BatchEmOptions options;
    options.max_iterations = 1;
    options.tolerance = 0;
    options.m_step = m_step;
    const MStep step(m_step, estimate.basis, estimate.prior);
    const double penalty = step.log_prior(estimate.basis, estimate.prior);
    const BatchEmResult result = batch_em(Record(counts), estimate, options);
    const double now = result.log_likelihood.front() + penalty;
    EXPECT_GE(now, last - 1e-5);  // the weak priors' scale is that of each start
    last = now;
    estimate = result.last;
  }
  EXPECT_GT(estimate.basis.row(3).minCoeff(), 1e-3);
}

// 60 observations of 80 sparse channels, of which a few are silent: what is expected of the basis
// predicts better, and no entry is certainly zero.
TEST(BasisExpectation, IsFoundWhereCountsAreScarce) {
  Generator generator = RandomStream(5).at(1, 0, Purpose::basis);
  Vector means(80);
  for (double& value : means) value = 0.5 * gamma(generator, 0.3);
  const Matrix counts = poisson_counts(means, 60, 6);
  ASSERT_EQ(counts.rowwise().sum().minCoeff(), 0);
  const StartSearch found =
      automatic_start(Record(counts), AnyPrior(GammaPrior(3, 1, 0.9)), {AnyLaw()}, false, {}, 1);
  EXPECT_GE(found.report.basis_prior.counts, kLeastExpectation);
  EXPECT_EQ(found.expectation.counts, found.report.basis_prior.counts);
  for (Index m = 0; m < counts.rows(); ++m) EXPECT_GT(found.estimate.basis.row(m).sum(), 1e-4);
}

// Whatever the rows that are held out say: a count in a channel that was silent must not be
// impossible.
TEST(BasisExpectation, IsNeverNothingWhereCountsAreScarceOrAChannelIsSilent) {
  const AnyPrior prior(GammaPrior(2, 1, 0.9));
  const auto found = [&](const Matrix& counts) {
    return automatic_start(Record(counts), prior, {AnyLaw()}, false, {}, 1);
  };
  Matrix wave = poisson_counts(Vector::Constant(40, 0.3), 60, 3);
  wave.rightCols(30).setZero();
  wave.topRows(10).setZero();
  for (const Index length : {4, 60}) {
    const StartSearch start = found(wave.leftCols(length));
    EXPECT_GE(start.expectation.counts, kLeastExpectation);
    EXPECT_GT(start.estimate.basis.rowwise().sum().minCoeff(), 1e-4);
  }
  Matrix many = poisson_counts(Vector::Constant(40, 20), 100, 4);
  EXPECT_FALSE(found(many).expectation.any());
  many.row(3).setZero();
  ASSERT_FALSE(has_scarce_counts(Record(many), 2));
  ASSERT_TRUE(has_silent_channel(Record(many)));
  const StartSearch start = found(many);
  EXPECT_EQ(start.expectation.counts, kLeastExpectation);
  EXPECT_GT(start.estimate.basis.row(3).sum(), 1e-4);
  EXPECT_FALSE(has_silent_channel(Record((Matrix(2, 2) << 1, 2, NAN, NAN).finished())));
}

// Twenty predictions that are better by `gain` each, give or take a hundredth, with this number.
double chosen_if(double better, double gain) {
  const ThreadPool pool(1);
  SearchTasks tasks(pool, {});
  const auto predict = [&](const BasisExpectation& expectation) {
    Vector logarithms = Vector::Constant(20, expectation.counts == better ? gain : 0);
    for (Index t = 0; t < logarithms.size(); t += 2) {
      logarithms[t] += 0.01 * std::log(expectation.counts);
    }
    return logarithms;
  };
  const ExpectationChoice choice =
      choose_expectation({0, Vector::Ones(2), Vector::Ones(1)}, predict, tasks);
  EXPECT_EQ(choice.report.counts, choice.expectation.counts);
  return choice.expectation.counts;
}

// Five nats in all are asked for: a quarter of a nat each.
TEST(BasisExpectation, IsTheUsualOneUnlessAnotherIsClearlyBetter) {
  EXPECT_EQ(chosen_if(kLeastExpectation, 0.3), kLeastExpectation);
  EXPECT_EQ(chosen_if(kLeastExpectation, 0.2), kUsualExpectation);
  EXPECT_EQ(chosen_if(10, 0.3), 10);
  EXPECT_EQ(chosen_if(10, 0.2), kUsualExpectation);
}

TEST(BasisExpectation, IsNotAskedForWhereThereArePlentyOrAPriorIsGiven) {
  const Matrix many = poisson_counts(Vector::Constant(4, 20), 100, 2);
  EXPECT_FALSE(has_scarce_counts(Record(many), 2));
  const Matrix few = poisson_counts(Vector::Constant(40, 0.1), 60, 2);
  EXPECT_TRUE(has_scarce_counts(Record(few), 2));
  MStepOptions options;
  options.basis_shape = 1;
  const StartSearch found =
      automatic_start(Record(few), AnyPrior(GammaPrior(2, 1, 0.9)), {AnyLaw()}, false, options, 1);
  EXPECT_FALSE(found.expectation.any());
}

}  // namespace
}  // namespace headwater
