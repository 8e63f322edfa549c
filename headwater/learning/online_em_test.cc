#include "headwater/learning/online_em.hpp"

#include <gtest/gtest.h>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/dense_recursion.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using Smoother = ExactEngineOptions::Smoother;
using reference::largest_relative_difference;

constexpr double kP = 0.8571;
constexpr double kQ = 0.6926;

OnlineEm make_learner(const Estimate& start, Smoother smoother, const OnlineEmOptions& options) {
  ExactEngineOptions engine;
  engine.smoother = smoother;
  engine.learn_prior = learns_prior(options.m_step, start.prior);
  return {std::make_unique<ExactEngine>(start.prior, start.basis, engine), start, options};
}

OnlineEmOptions paper_options() {
  OnlineEmOptions options;
  options.step_size = StepSize::power(0.8);
  options.average = false;
  options.lengthen_steps = false;
  options.m_step.drop_weak_priors();
  return options;
}

// Algorithm 1 by the dense recursion, M-steps written out.
Estimate dense_online_em(const Matrix& record, Estimate estimate, const OnlineEmOptions& options,
                         bool learn_prior) {
  const FiniteChain chain = estimate.prior.finite_chain();
  reference::DenseRecursion recursion(chain, chain.joint_states(), estimate.basis);
  for (Index t = 1; t <= record.cols(); ++t) {
    recursion.step(as_span(record.col(t - 1)), options.step_size(t));
    if (t < options.burn_in) continue;
    const Statistics& s = recursion.statistics();
    for (Index k = 0; k < estimate.basis.cols(); ++k) estimate.basis.col(k) = s.s2.col(k) / s.s1[k];
    recursion.set_basis(estimate.basis);
    if (!learn_prior) continue;
    Vector n = Vector::Zero(4);
    for (Index k = 0; k < estimate.basis.cols(); ++k) n += s.s3.segment(4 * k, 4);
    estimate.prior =
        AnyPrior(BasisSelection(estimate.basis.cols(), n[0] / (n[0] + n[1]), n[3] / (n[2] + n[3])));
    recursion.set_chain(estimate.prior.finite_chain());
  }
  return estimate;
}

class PaperRecursion : public testing::TestWithParam<bool> {};

TEST_P(PaperRecursion, IsReproduced) {
  const bool learn_prior = GetParam();
  const AnyPrior truth(BasisSelection(3, kP, kQ));
  const Matrix basis = random_basis(4, 3, 10, 1);
  const Matrix record = reference::simulate_record(truth, basis, 2000, 2);
  const Estimate start{reference::perturbed(basis, 0.3, 3), AnyPrior(BasisSelection(3, 0.7, 0.6))};
  OnlineEmOptions options = paper_options();
  if (!learn_prior) options.m_step.held_parameters = {"stay_off", "stay_on"};
  OnlineEm learner = make_learner(start, Smoother::kForwardAsPrinted, options);
  for (Index t = 0; t < record.cols(); ++t) learner.update(as_span(record.col(t)));
  learner.finish();
  const Estimate expected = dense_online_em(record, start, options, learn_prior);
  EXPECT_LT(largest_relative_difference(learner.last().basis, expected.basis), 1e-11);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(learner.last().prior.parameters()[i].value(0),
                expected.prior.parameters()[i].value(0), 1e-11);
  }
}
INSTANTIATE_TEST_SUITE_P(OnlineEm, PaperRecursion, testing::Bool());

TEST(OnlineEm, MakesNoStepBeforeTheBurnIn) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Matrix basis = random_basis(3, 2, 5, 1);
  const Matrix record = reference::simulate_record(prior, basis, 60, 2);
  OnlineEmOptions options;
  options.burn_in = 50;
  const Estimate start{reference::perturbed(basis, 0.3, 1), prior};
  OnlineEm learner = make_learner(start, Smoother::kForward, options);
  for (Index t = 0; t < 49; ++t) EXPECT_FALSE(learner.update(as_span(record.col(t))).updated);
  EXPECT_EQ(learner.last().basis, start.basis);
  EXPECT_EQ(learner.last().prior.parameters()[0].value, prior.parameters()[0].value);
  EXPECT_TRUE(learner.update(as_span(record.col(49))).updated);
  EXPECT_NE(learner.last().basis, start.basis);
}

TEST(OnlineEm, AStreamShorterThanTheBurnInStillCounts) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Matrix basis = random_basis(3, 2, 5, 1);
  const Matrix record = reference::simulate_record(prior, basis, 30, 2);
  const Estimate start{reference::perturbed(basis, 0.3, 1), prior};
  for (const bool rescue : {true, false}) {
    for (const Smoother smoother : {Smoother::kWindow, Smoother::kForward}) {
      OnlineEmOptions options;
      options.rescue_short_streams = rescue;
      OnlineEm learner = make_learner(start, smoother, options);
      for (Index t = 0; t < 30; ++t) learner.update(as_span(record.col(t)));
      learner.finish();
      EXPECT_EQ(learner.last().basis != start.basis, rescue);
      // But for the weak priors, of weight 1e-6, which enter once more.
      EXPECT_LT(largest_relative_difference(learner.reported().basis, learner.last().basis), 1e-6);
    }
  }
}

// A copy goes on like the original and shares nothing with it.
TEST(OnlineEm, IsAValue) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Matrix basis = random_basis(3, 2, 5, 1);
  const Matrix record = reference::simulate_record(prior, basis, 400, 2);
  for (const Smoother smoother : {Smoother::kWindow, Smoother::kForward}) {
    OnlineEm whole = make_learner({basis, prior}, smoother, {});
    OnlineEm begun = make_learner({basis, prior}, smoother, {});
    for (Index t = 0; t < 400; ++t) {
      whole.update(as_span(record.col(t)));
      if (t < 210) begun.update(as_span(record.col(t)));
    }
    OnlineEm copy = begun;
    for (Index t = 210; t < 400; ++t) copy.update(as_span(record.col(t)));
    for (Index t = 0; t < 50; ++t) begun.update(as_span(record.col(t)));
    EXPECT_EQ(copy.last().basis, whole.last().basis);
    EXPECT_EQ(copy.log_likelihood(), whole.log_likelihood());
  }
}

TEST(OnlineEm, WhatIsHeldKeepsItsBitsThroughTheAverage) {
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Matrix basis = random_basis(3, 2, 5, 1);
  const Matrix record = reference::simulate_record(prior, basis, 1000, 2);
  OnlineEmOptions options;
  options.m_step.hold_basis = true;
  options.m_step.held_parameters = {"stay_off"};
  OnlineEm learner = make_learner({basis, prior}, Smoother::kWindow, options);
  for (Index t = 0; t < 1000; ++t) learner.update(as_span(record.col(t)));
  learner.finish();
  EXPECT_EQ(learner.reported().basis, basis);
  EXPECT_EQ(learner.reported().prior.parameters()[0].value(0), 0.8);
  EXPECT_NE(learner.reported().prior.parameters()[1].value(0), 0.7);
}

// From a start near the truth, in 20,000 observations of the paper's size: the error of the
// averaged estimate is about .05 (sd .01 over seeds), so .1 is five standard deviations away.
TEST(OnlineEm, FindsTheBasisAndThePrior) {
  const AnyPrior truth(BasisSelection(5, kP, kQ));
  const Matrix basis = random_basis(8, 5, 10, 4);
  const Matrix record = reference::simulate_record(truth, basis, 20000, 5);
  const Estimate start{reference::perturbed(basis, 0.3, 6), AnyPrior(BasisSelection(5, 0.7, 0.5))};
  OnlineEm learner = make_learner(start, Smoother::kWindow, {});
  for (Index t = 0; t < record.cols(); ++t) learner.update(as_span(record.col(t)));
  learner.finish();
  const Estimate found = learner.reported();
  EXPECT_LT(root_mean_square_error(in_order_of(found.basis, basis), basis), 0.1);
  EXPECT_NEAR(found.prior.parameters()[0].value(0), kP, 0.01);
  EXPECT_NEAR(found.prior.parameters()[1].value(0), kQ, 0.015);
}

// An impossible observation is counted, and its counts enter no statistic.
TEST(OnlineEm, ImpossibleObservationsAreSetAside) {
  const AnyPrior prior(BasisSelection(1, 0.8, 0.7));
  const Matrix basis = (Matrix(2, 1) << 3, 0).finished();
  OnlineEmOptions options = paper_options();
  options.burn_in = 1;
  OnlineEm learner = make_learner({basis, prior}, Smoother::kForwardAsPrinted, options);
  const std::vector<double> fine = {4, 0};
  const std::vector<double> impossible = {4, 9};
  learner.update(fine);
  const StepReport report = learner.update(impossible);
  EXPECT_TRUE(report.filter.impossible);
  EXPECT_EQ(learner.impossible_observations(), 1);
  EXPECT_EQ(learner.last().basis(1, 0), 0);
  EXPECT_TRUE(learner.last().basis.allFinite());
}

}  // namespace
}  // namespace headwater
