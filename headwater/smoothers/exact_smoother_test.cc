#include "headwater/smoothers/smoother.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/reference/dense_recursion.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"
#include "headwater/smoothers/adjoint_window.hpp"
#include "headwater/smoothers/forward_recursion.hpp"
#include "headwater/step_size.hpp"

namespace headwater {
namespace {

using reference::largest_relative_difference;
using Second = ForwardRecursion::SecondStatistic;

// Weights gamma_t prod_{r > t} (1 - gamma_r) of the observations after T of them.
std::vector<double> discounted_weights(const StepSize& step_size, Index length) {
  std::vector<double> weights(length);
  double kept = 1;
  for (Index t = length; t >= 1; --t) {
    weights[t - 1] = step_size(t) * kept;
    kept *= 1 - step_size(t);
  }
  return weights;
}

void expect_equal(const Statistics& a, const Statistics& b, double tolerance) {
  EXPECT_LT(largest_relative_difference(a.s1, b.s1), tolerance);
  EXPECT_LT(largest_relative_difference(a.s2, b.s2), tolerance);
  EXPECT_LT(largest_relative_difference(a.s3, b.s3), tolerance);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_NEAR(a.squared_weights, b.squared_weights, tolerance);
  if (a.unseen.size() > 0 || b.unseen.size() > 0) {
    EXPECT_LT(largest_relative_difference(a.unseen, b.unseen), tolerance);
  }
}

Statistics run(const FiniteChain& chain, const Matrix& basis, const Matrix& observations,
               const StepSize& step_size, ExactSmoother& smoother) {
  ExactFilter filter(chain, basis);
  for (Index t = 0; t < observations.cols(); ++t) {
    filter.step(as_span(observations.col(t)));
    smoother.advance(filter, as_span(observations.col(t)), step_size(t + 1));
  }
  smoother.finish(filter);
  return smoother.statistics();
}

// A window so long that nothing is folded before the end.
WindowOptions full_window() {
  WindowOptions options;
  options.lag = 100000;
  return options;
}

struct Small {
  FiniteChain chain;
  Matrix basis;
  Matrix observations;
};

std::vector<Small> small_cases() {
  Matrix y(3, 6);
  y << 3, 0, 7, 0, 0, 2,  //
      0, 0, 9, 1, 0, 4,   //
      1, 0, 4, 0, 5, 0;
  Matrix gappy = y;
  gappy(0, 1) = gappy(2, 5) = std::numeric_limits<double>::quiet_NaN();
  gappy.col(3).setConstant(std::numeric_limits<double>::quiet_NaN());
  Matrix basis(3, 2);
  basis << 4, 1, 0.5, 6, 2, 2;
  Matrix zeros(3, 3);
  zeros << 4, 0, 0.1, 0, 6, 0.2, 2, 3, 0.3;
  Matrix table(3, 3);
  table << 0.7, 0.2, 0.1, 0.0, 0.5, 0.5, 0.3, 0.3, 0.4;
  const Matrix states = (Matrix(3, 2) << 0.2, 1, 1.5, 0, 2, 2).finished();
  return {{BasisSelection(2, 0.8571, 0.6926).finite_chain(), basis, y},
          {BasisSelection(2, 0.99, 0.9).finite_chain(), basis, gappy},
          {BasisSelection(2, 0.5, 0.3).finite_chain(), zeros, y},
          {FiniteStatePrior(states, table).finite_chain(), basis, gappy},
          // One component a state: means of activations are then the laws themselves.
          {FiniteStatePrior(Matrix::Identity(3, 3), table).finite_chain(), zeros.array() + 0.1, y}};
}

TEST(ExactSmoothers, EqualSumsOverEveryPath) {
  const StepSize step_size = StepSize::power(0.7);
  for (const Small& c : small_cases()) {
    const Matrix states = states_with_background(c.chain, c.basis.cols());
    auto truth = reference::sum_over_paths(c.chain, states, c.basis, c.observations,
                                           discounted_weights(step_size, 6));
    for (const double w : discounted_weights(step_size, 6)) truth.statistics.count_observation(w);
    const ExactFilter filter(c.chain, c.basis);
    AdjointWindow window(filter, full_window(), true);
    ForwardRecursion at_once(filter, Second::kAtOnce, true);
    ForwardRecursion as_printed(filter, Second::kAsPrinted, true);
    for (ExactSmoother* smoother :
         std::initializer_list<ExactSmoother*>{&window, &at_once, &as_printed}) {
      expect_equal(run(c.chain, c.basis, c.observations, step_size, *smoother), truth.statistics,
                   1e-12);
    }
  }
}

TEST(ExactBatch, SmoothedLawsEqualSumsOverEveryPath) {
  for (const Small& c : small_cases()) {
    const Matrix states = states_with_background(c.chain, c.basis.cols());
    auto truth = reference::sum_over_paths(c.chain, states, c.basis, c.observations,
                                           std::vector<double>(6, 1.0 / 6));
    for (int t = 0; t < 6; ++t) truth.statistics.count_observation(1.0 / 6);
    const Record all(c.observations);
    ExactBatch batch(c.chain, c.basis, all);
    EXPECT_NEAR(batch.log_likelihood(), truth.log_likelihood,
                1e-12 * std::abs(truth.log_likelihood));
    const Matrix means = batch.smoothed_activations();
    for (Index t = 0; t < 6; ++t) {
      EXPECT_LT(
          (means.row(t).transpose() - states.transpose() * truth.smoothed[t]).cwiseAbs().maxCoeff(),
          1e-12);
    }
    expect_equal(batch.statistics(true), truth.statistics, 1e-12);
  }
}

class ByComponents : public testing::TestWithParam<Index> {};

// Butterfly = dense recursion, and the adjoint window over everything = forward recursion.
TEST_P(ByComponents, AllRecursionsAgree) {
  const Index K = GetParam();
  const BasisSelection prior(K, 0.8571, 0.6926);
  const FiniteChain chain = prior.finite_chain();
  const Matrix basis = random_basis(5, K, 3, 7);
  const Matrix record = reference::simulate_record(AnyPrior(prior), basis, 40, 11);
  const StepSize step_size = StepSize::power(0.6);
  const ExactFilter filter(chain, basis);

  reference::DenseRecursion dense(chain, chain.joint_states(), basis);
  double log_likelihood = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    log_likelihood += dense.step(as_span(record.col(t)), step_size(t + 1));
  }
  EXPECT_NEAR(ExactBatch(chain, basis, Record(record)).log_likelihood(), log_likelihood,
              1e-12 * std::abs(log_likelihood));

  ForwardRecursion forward(filter, Second::kAtOnce, true);
  ForwardRecursion as_printed(filter, Second::kAsPrinted, true);
  AdjointWindow window(filter, full_window(), true);
  const Statistics truth = run(chain, basis, record, step_size, forward);
  expect_equal(truth, dense.statistics(), 1e-12);
  expect_equal(run(chain, basis, record, step_size, as_printed), truth, 1e-12);
  expect_equal(run(chain, basis, record, step_size, window), truth, 1e-12);
}
INSTANTIATE_TEST_SUITE_P(Exact, ByComponents, testing::Values(1, 2, 3, 4, 5, 6));

// Filter steps are remembered with the transition of their time: when the chain changes under way,
// the backward pass still gives what the forward recursion carries. (The counts are shared out by
// the basis of the time by the one and by that of the end by the other, so the basis stays here.)
TEST(AdjointWindow, EqualsTheForwardRecursionWhileTheChainChanges) {
  const Matrix basis = random_basis(4, 3, 3, 2);
  const Matrix record =
      reference::simulate_record(AnyPrior(BasisSelection(3, 0.8, 0.7)), basis, 60, 3);
  const StepSize step_size = StepSize::power(0.7);
  ExactFilter filter(BasisSelection(3, 0.8, 0.7).finite_chain(), basis);
  AdjointWindow window(filter, full_window(), true);
  ForwardRecursion forward(filter, Second::kAtOnce, true);
  for (Index t = 0; t < record.cols(); ++t) {
    if (t % 10 == 5) {
      const double drift = 0.003 * static_cast<double>(t);
      filter.set_chain(BasisSelection(3, 0.8 - drift, 0.7 + drift).finite_chain());
    }
    const Observation y = as_span(record.col(t));
    filter.step(y);
    window.advance(filter, y, step_size(t + 1));
    forward.advance(filter, y, step_size(t + 1));
  }
  window.finish(filter);
  expect_equal(window.statistics(), forward.statistics(), 1e-12);
}

// Every count has one source: sum_k S2(m, k) is the discounted sum of the counts themselves.
TEST(AdjointWindow, CountsAreSharedOutWithoutLoss) {
  const BasisSelection prior(3, 0.8, 0.7);
  const Matrix basis = random_basis(4, 3, 5, 3);
  const Matrix record = reference::simulate_record(AnyPrior(prior), basis, 500, 5);
  const StepSize step_size = StepSize::power(0.6);
  const ExactFilter filter(prior.finite_chain(), basis);
  AdjointWindow window(filter, {}, true);
  const Statistics statistics = run(prior.finite_chain(), basis, record, step_size, window);
  const std::vector<double> weights = discounted_weights(step_size, 500);
  const Vector expected = record * Eigen::Map<const Vector>(weights.data(), 500);
  EXPECT_LT(largest_relative_difference(statistics.s2.rowwise().sum(), expected), 1e-12);
  EXPECT_EQ(statistics.observations, 500);
}

// The tolerance is kept: informative and vague data, quick and sticky chains.
TEST(AdjointWindow, TruncationStaysWithinTheTolerance) {
  for (const double scale : {1.0, 10.0}) {
    for (const auto& [p, q] : {std::pair{0.8571, 0.6926}, std::pair{0.95, 0.9}}) {
      const BasisSelection prior(4, p, q);
      const FiniteChain chain = prior.finite_chain();
      const Matrix basis = random_basis(6, 4, scale, 9);
      const Matrix record = reference::simulate_record(AnyPrior(prior), basis, 600, 13);
      const StepSize step_size = StepSize::power(0.6);
      const ExactFilter filter(chain, basis);
      AdjointWindow window(filter, {}, true);
      AdjointWindow whole(filter, full_window(), true);
      expect_equal(run(chain, basis, record, step_size, window),
                   run(chain, basis, record, step_size, whole), WindowOptions{}.tolerance);
    }
  }
}

TEST(AdjointWindow, LagFollowsTheChainsMemory) {
  const WindowOptions options;
  EXPECT_EQ(window_lag(options, 0.5497), 24);  // the paper's p + q - 1
  EXPECT_EQ(window_lag(options, 0.93), 191);
  EXPECT_EQ(window_lag(options, 1), options.max_lag);
  EXPECT_EQ(window_lag(options, 0), 1);
  WindowOptions fixed;
  fixed.lag = 7;
  EXPECT_EQ(window_lag(fixed, 0.99), 7);
}

TEST(AdjointWindow, BlocksGrowWithTheStream) {
  const WindowOptions options;
  EXPECT_EQ(window_block(options, 0), 16);
  EXPECT_EQ(window_block(options, 1000), 31);
  EXPECT_EQ(window_block(options, 100000), 64);
  WindowOptions fixed;
  fixed.block = 5;
  EXPECT_EQ(window_block(fixed, 100000), 5);
}

TEST(AdjointWindow, BlocksBeginWithOneObservationUnderLevelsThatDrift) {
  const AnyLaw drifting(NegativeBinomial(Vector::Constant(3, 0.5), 0.9));
  const WindowOptions options = window_under(drifting, {});
  EXPECT_EQ(window_block(options, 0), 1);
  EXPECT_EQ(window_block(options, 100), 3);
  EXPECT_EQ(window_block(options, 100000), 64);
  EXPECT_EQ(window_block(window_under(AnyLaw(), {}), 0), 16);
}

}  // namespace
}  // namespace headwater
