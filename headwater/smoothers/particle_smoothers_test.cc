#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"
#include "headwater/smoothers/particle_window.hpp"
#include "headwater/smoothers/path_recursion.hpp"
#include "headwater/smoothers/path_window.hpp"

namespace headwater {
namespace {

using reference::all_of;
using reference::largest_relative_difference;
using reference::over_seeds;
using reference::run_particles;
using SmootherKind = ParticleEngineOptions::Smoother;

void expect_same_statistics(const Statistics& a, const Statistics& b, double tolerance) {
  EXPECT_LT(largest_relative_difference(a.s1, b.s1), tolerance);
  EXPECT_LT(largest_relative_difference(a.s2, b.s2), tolerance);
  EXPECT_LT(largest_relative_difference(a.s3, b.s3), tolerance);
  EXPECT_LT(largest_relative_difference(a.unseen, b.unseen), tolerance);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_NEAR(a.squared_weights, b.squared_weights, tolerance);
}

struct Setting {
  AnyPrior prior;
  Matrix basis;
  Matrix record;
};

// Two components, with a background that has nothing to explain where there is a third column.
Setting setting(const AnyPrior& prior, Index columns, Index length, bool has_gaps) {
  Setting s{prior, random_basis(4, columns, 3, 3), {}};
  s.record = reference::simulate_record(prior, s.basis.leftCols(2), length, 5);
  if (has_gaps) {
    for (Index t = 7; t < length; t += 10) s.record(t % 4, t) = kNaN;
    s.record.col(length / 2).setConstant(kNaN);
  }
  return s;
}

// At every observation that the window has new statistics for, and at the end.
void expect_path_window_is_the_recursion(const Setting& s, const ParticleFilterOptions& options,
                                         Index block, bool with_moves = true) {
  ParticleFilter filter(s.prior, s.basis, options, reference::threads(1));
  WindowOptions window_options;
  window_options.block = block;
  PathWindow window(filter, window_options, with_moves);
  PathRecursion recursion(filter, with_moves);
  const StepSize step_size = StepSize::power(0.6);
  Index compared = 0;
  for (Index t = 0; t < s.record.cols(); ++t) {
    const Observation y = as_span(s.record.col(t));
    filter.step(y);
    EXPECT_TRUE(recursion.advance(filter, y, step_size(t + 1)));
    if (!window.advance(filter, y, step_size(t + 1))) continue;
    ++compared;
    expect_same_statistics(window.statistics(), recursion.statistics(), 1e-10);
  }
  EXPECT_GE(compared, s.record.cols() / (block > 0 ? block : 64));
  window.finish(filter);
  recursion.finish(filter);
  expect_same_statistics(window.statistics(), recursion.statistics(), 1e-10);
}

class ByThreshold : public testing::TestWithParam<double> {
 protected:
  ParticleFilterOptions options() const { return {60, Resampling::kSystematic, GetParam(), 1}; }
};
INSTANTIATE_TEST_SUITE_P(PathWindow, ByThreshold, testing::Values(0, 0.5, 1));

TEST_P(ByThreshold, IsAlgorithm1ForEveryBlock) {
  const Setting s = setting(AnyPrior(LogGaussian(2, 0.9, 0.3)), 2, 250, false);
  for (const Index block : {0, 1, 2, 7, 16, 31, 32, 33, 64, 100}) {
    expect_path_window_is_the_recursion(s, options(), block);
  }
}

TEST_P(ByThreshold, IsAlgorithm1WithGapsAndABackground) {
  for (const Index columns : {2, 3}) {
    for (const bool has_gaps : {false, true}) {
      for (const AnyPrior& prior :
           {AnyPrior(LogGaussian(2, 0.9, 0.3)), AnyPrior(BasisSelection(2, 0.85, 0.7))}) {
        expect_path_window_is_the_recursion(setting(prior, columns, 250, has_gaps), options(), 16);
      }
    }
  }
}

TEST_P(ByThreshold, IsAlgorithm1WithoutMoves) {
  const Setting s = setting(AnyPrior(LogGaussian(2, 0.9, 0.3)), 3, 150, true);
  expect_path_window_is_the_recursion(s, options(), 16, false);
}

TEST(PathWindow, ACopyGoesOnByItself) {
  const Setting s = setting(AnyPrior(LogGaussian(2, 0.9, 0.3)), 3, 150, true);
  ParticleFilter filter(s.prior, s.basis, {60, Resampling::kSystematic, 0.5, 1},
                        reference::threads(1));
  PathWindow window(filter, {}, true);
  std::unique_ptr<ParticleSmoother> copy;
  for (Index t = 0; t < s.record.cols(); ++t) {
    const Observation y = as_span(s.record.col(t));
    filter.step(y);
    window.advance(filter, y, 0.1);
    if (copy) copy->advance(filter, y, 0.1);
    if (t == 77) copy = window.clone();
  }
  window.finish(filter);
  copy->finish(filter);
  expect_same_statistics(copy->statistics(), window.statistics(), 1e-300);
}

// Where nothing is cut off, the fixed-lag smoother is the path smoother.
TEST_P(ByThreshold, LagBeyondTheRecordIsPath) {
  const Setting s = setting(AnyPrior(LogGaussian(2, 0.9, 0.3)), 3, 60, true);
  auto options = reference::particle_options(SmootherKind::kPath, 60);
  options.filter.resample_below = GetParam();
  const Statistics path = run_particles(s.prior, s.basis, s.record, options).statistics;
  options.smoother = SmootherKind::kLag;
  for (const Index lag : {60, 1000}) {
    options.window.lag = lag;
    const auto run = run_particles(s.prior, s.basis, s.record, options);
    expect_same_statistics(run.statistics, path, 1e-12);
  }
}

// With one particle there is one path, whatever the smoother, and its statistics are plain sums.
TEST(ParticleSmoothers, OfOneParticleAreTheSumsOverItsPath) {
  const Setting s = setting(AnyPrior(LogGaussian(2, 0.9, 0.3)), 3, 100, true);
  ParticleFilter filter(s.prior, s.basis, {1, Resampling::kSystematic, 1, 1},
                        reference::threads(1));
  Statistics truth(4, 3, s.prior.num_statistics());
  truth.unseen.setZero(4, 3);
  Matrix before;
  for (Index t = 0; t < s.record.cols(); ++t) {
    filter.step(as_span(s.record.col(t)));
    const Vector x = filter.activations().row(0);
    const Vector intensity = s.basis * x;
    truth.s1 += x;
    for (Index m = 0; m < 4; ++m) {
      const double count = s.record(m, t);
      if (std::isnan(count)) {
        truth.unseen.row(m) += x;
      } else {
        truth.s2.row(m) += count / intensity[m] * s.basis.row(m).cwiseProduct(x.transpose());
      }
    }
    if (t > 0) {
      s.prior.add_statistics(before, filter.states(), Vector::Ones(1), as_span(truth.s3));
    }
    before = filter.states();
  }
  truth.discount(1.0 / 100);
  for (int t = 0; t < 100; ++t) truth.count_observation(1.0 / 100);
  for (const auto smoother : {SmootherKind::kLag, SmootherKind::kPath, SmootherKind::kPathAsPrinted,
                              SmootherKind::kParis, SmootherKind::kForward}) {
    auto options = reference::particle_options(smoother, 1);
    options.filter.resample_below = 1;
    expect_same_statistics(run_particles(s.prior, s.basis, s.record, options).statistics, truth,
                           1e-10);
  }
}

struct Exact {
  BasisSelection prior{2, 0.85, 0.7};
  Matrix basis = random_basis(4, 2, 1, 3);
  Matrix record = reference::simulate_record(AnyPrior(prior), basis, 30, 5);
  Vector truth = all_of(ExactBatch(prior.finite_chain(), basis, Record(record)).statistics(true));
};

Matrix statistics_over_seeds(const Exact& e, Index seeds, ParticleEngineOptions options) {
  return over_seeds(seeds, [&](std::uint64_t seed) {
    options.filter.seed = seed;
    return all_of(run_particles(AnyPrior(e.prior), e.basis, e.record, options).statistics);
  });
}

// Means over 30 seeds against exact smoothing. There are 18 statistics for each of the smoothers;
// an alarm rate of 1e-6 for all. A bias, of order 1 / N, is small beside the standard error, of
// order 1 / sqrt(30 N).
TEST(ParticleSmoothers, AgreeWithExactSmoothing) {
  const Exact e;
  for (const auto smoother :
       {SmootherKind::kLag, SmootherKind::kPath, SmootherKind::kParis, SmootherKind::kForward}) {
    const bool is_square = smoother == SmootherKind::kForward;
    auto options = reference::particle_options(smoother, is_square ? 150 : 1000);
    options.window.lag = 30;
    const Matrix values = statistics_over_seeds(e, 30, options);
    EXPECT_LT(reference::largest_z(values, e.truth), reference::critical_z(values, 4))
        << static_cast<int>(smoother);
  }
}

// The forward smoother's error falls with the square root of N: by 4 from N = 10 to 160, where a
// fall by less than 2 is an alarm. For one statistic that is a ratio of variances below a quarter
// of the expected one, which for 52 degrees of freedom each has probability 8e-7.
TEST(ParticleSmoothers, ForwardTendsToExactSmoothing) {
  const Exact e;
  const auto squared_error = [&](Index n) {
    const Matrix values =
        statistics_over_seeds(e, 52, reference::particle_options(SmootherKind::kForward, n));
    return Vector((values.rowwise() - e.truth.transpose()).array().square().colwise().mean());
  };
  const Vector few = squared_error(10);
  const Vector many = squared_error(160);
  EXPECT_LT(many[0], few[0] / 4);
  EXPECT_LT(many.sum(), few.sum() / 4);
}

}  // namespace
}  // namespace headwater
