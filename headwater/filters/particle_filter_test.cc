#include "headwater/filters/particle_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/reference/uniform_prior.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using reference::threads;

ParticleFilterOptions options_for(Index n, Resampling scheme, double resample_below,
                                  std::uint64_t seed = 1) {
  return {n, scheme, resample_below, seed};
}

// A bootstrap filter in the plainest terms, with linear weights.
struct NaiveFilter {
  AnyPrior prior;
  Matrix basis;
  ParticleFilterOptions options;
  std::uint64_t time = 0;
  Matrix states;
  std::vector<double> weights;

  // p(y_t | y_1..t-1)
  double step(const Vector& y) {
    const Index n = options.num_particles;
    const RandomStream random(options.seed);
    if (++time == 1) {
      states.resize(n, prior.state_size());
      prior.sample_initial({random, time, 0, Purpose::first_particles}, states);
      weights.assign(static_cast<std::size_t>(n), 1 / double(n));
    } else {
      double sum_of_squares = 0;
      for (const double w : weights) sum_of_squares += w * w;
      Matrix parents = states;
      if (1 / sum_of_squares < options.resample_below * double(n)) {
        Ancestors ancestors(weights.size());
        Generator generator = random.at(time, 0, Purpose::resampling);
        resample(options.resampling, weights, generator, ancestors);
        for (Index i = 0; i < n; ++i) parents.row(i) = states.row(ancestors[i]);
        weights.assign(static_cast<std::size_t>(n), 1 / double(n));
      }
      prior.sample_transition({random, time, 0, Purpose::particle_moves}, parents, states);
    }
    Matrix x(n, prior.num_components());
    prior.activations(states, x);
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      weights[i] *= std::exp(reference::log_poisson(y, basis * x.row(i).transpose()));
      sum += weights[i];
    }
    for (double& w : weights) w /= sum;
    return sum;
  }
};

using SchemeAndThreshold = std::tuple<Resampling, double>;
class BySchemeAndThreshold : public testing::TestWithParam<SchemeAndThreshold> {};

INSTANTIATE_TEST_SUITE_P(
    ParticleFilter, BySchemeAndThreshold,
    testing::Combine(testing::Values(Resampling::kSystematic, Resampling::kStratified,
                                     Resampling::kMultinomial, Resampling::kResidual),
                     testing::Values(0, 0.5, 1)));

TEST_P(BySchemeAndThreshold, EqualsANaiveFilterWithLinearWeights) {
  const auto [scheme, resample_below] = GetParam();
  const Matrix basis = random_basis(4, 2, 4, 3);
  for (const AnyPrior& prior :
       {AnyPrior(BasisSelection(2, 0.85, 0.7)), AnyPrior(LogGaussian(2, 0.9, 0.3))}) {
    Matrix record = reference::simulate_record(prior, basis, 40, 5);
    record(1, 7) = kNaN;
    const auto options = options_for(700, scheme, resample_below);
    ParticleFilter filter(prior, basis, options, threads(1));
    NaiveFilter naive{prior, basis, options, 0, {}, {}};
    Index resampled = 0;
    for (Index t = 0; t < record.cols(); ++t) {
      const FilterStep step = filter.step(as_span(record.col(t)));
      const double log_naive = std::log(naive.step(record.col(t)));
      ASSERT_NEAR(step.log_predictive, log_naive, 1e-12 * (1 + std::abs(log_naive))) << t;
      ASSERT_EQ(filter.states(), naive.states) << t;
      for (Index i = 0; i < 700; ++i) ASSERT_NEAR(filter.weights()[i], naive.weights[i], 1e-12);
      resampled += step.particles()->resampled;
    }
    const Index moves = record.cols() - 1;
    if (resample_below == 0) {
      EXPECT_EQ(resampled, 0);
    } else if (resample_below == 1) {
      EXPECT_EQ(resampled, moves);
    } else {
      EXPECT_TRUE(0 < resampled && resampled < moves) << resampled;
    }
  }
}

// p^(y) is unbiased, whatever the scheme and whether or not a step resamples. Over 2700 seeds the
// mean of p^/p is normal to a good approximation, as its spread is about a third; an alarm rate of
// 1e-6 for each of these twelve tests. The standard error is 0.012 at most, so that a bias of 6 %
// shows.
TEST_P(BySchemeAndThreshold, LikelihoodIsUnbiased) {
  const auto [scheme, resample_below] = GetParam();
  const BasisSelection prior(2, 0.85, 0.7);
  const Matrix basis = random_basis(4, 2, 1.5, 3);
  const Index length = resample_below == 0 ? 5 : 20;  // without resampling the spread explodes
  const Matrix record = reference::simulate_record(AnyPrior(prior), basis, length, 5);
  const double truth = ExactBatch(prior.finite_chain(), basis, Record(record)).log_likelihood();
  const Matrix ratios = reference::over_seeds(2700, [&, s = scheme, r = resample_below](auto seed) {
    ParticleFilter filter(AnyPrior(prior), basis, options_for(300, s, r, seed), threads(1));
    double log_likelihood = 0;
    for (Index t = 0; t < length; ++t) {
      log_likelihood += filter.step(as_span(record.col(t))).log_predictive;
    }
    return Vector::Constant(1, std::exp(log_likelihood - truth));
  });
  const reference::Moments mean = reference::moments_of(ratios.col(0));
  EXPECT_LT(mean.standard_error, 0.012);
  EXPECT_NEAR(mean.mean, 1, reference::critical_z(ratios) * mean.standard_error);
}

// Means over 30 seeds, in standard errors that are estimated from them; an alarm rate of 1e-6.
// Their bias, of order 1 / 1000, is a small part of a standard error, of order 1 / sqrt(30,000).
TEST(ParticleFilter, MeansAreTheExactOnes) {
  const BasisSelection prior(2, 0.85, 0.7);
  const Matrix basis = random_basis(4, 2, 3, 3);
  const Matrix record = reference::simulate_record(AnyPrior(prior), basis, 20, 5);
  ExactFilter exact(prior.finite_chain(), basis);
  Matrix truth(2, record.cols());
  Matrix predicted_truth(2, record.cols());
  for (Index t = 0; t < record.cols(); ++t) {
    exact.step(as_span(record.col(t)));
    truth.col(t) = exact.states().transpose() * exact.filtered();
    predicted_truth.col(t) = exact.states().transpose() * exact.predicted();
  }
  Matrix filtered;
  Matrix predicted;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    ParticleFilter filter(AnyPrior(prior), basis,
                          options_for(1000, Resampling::kSystematic, 0.5, seed), threads(1));
    filtered.conservativeResize(static_cast<Index>(seed), truth.size());
    predicted.conservativeResize(static_cast<Index>(seed), truth.size());
    for (Index t = 0; t < record.cols(); ++t) {
      filter.step(as_span(record.col(t)));
      filtered.bottomRows(1).middleCols(2 * t, 2) = filter.filtered_activation().transpose();
      predicted.bottomRows(1).middleCols(2 * t, 2) = filter.predicted_activation().transpose();
    }
  }
  const double critical = reference::critical_z(filtered, 2);
  EXPECT_LT(reference::largest_z(filtered, truth.reshaped()), critical);
  EXPECT_LT(reference::largest_z(predicted, predicted_truth.reshaped()), critical);
}

TEST(ParticleFilter, ReportsWhatItDid) {
  const Matrix basis = random_basis(4, 2, 4, 3);
  const AnyPrior prior(LogGaussian(2, 0.9, 0.5));
  const Matrix record = reference::simulate_record(prior, basis, 30, 5);
  ParticleFilter filter(prior, basis, options_for(50, Resampling::kMultinomial, 0.5), threads(1));
  double effective_size = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    const FilterStep step = filter.step(as_span(record.col(t)));
    EXPECT_EQ(step.particles()->resampled, t > 0 && effective_size < 25) << t;
    Ancestors unique = filter.ancestors();
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    EXPECT_EQ(step.particles()->unique_ancestors, static_cast<Index>(unique.size())) << t;
    EXPECT_TRUE(step.particles()->resampled || step.particles()->unique_ancestors == 50) << t;
    EXPECT_NEAR(filter.weights().sum(), 1, 1e-14);
    EXPECT_NEAR(step.particles()->effective_size, 1 / filter.weights().squaredNorm(), 1e-12);
    EXPECT_EQ(filter.time(), static_cast<std::uint64_t>(t) + 1);
    effective_size = step.particles()->effective_size;
  }
}

TEST(ParticleFilter, AnObservationWithoutASeenCellSaysNothing) {
  const Matrix basis = random_basis(4, 2, 4, 3);
  const AnyPrior prior(LogGaussian(2, 0.9, 0.5));
  const Matrix record = reference::simulate_record(prior, basis, 10, 5);
  const std::vector<double> nothing(4, kNaN);
  for (const double resample_below : {0.0, 1.0}) {
    ParticleFilter filter(prior, basis, options_for(50, Resampling::kSystematic, resample_below),
                          threads(1));
    EXPECT_EQ(filter.step(nothing).log_predictive, 0);
    for (Index t = 0; t < record.cols(); ++t) {
      filter.step(as_span(record.col(t)));
      const Vector weights =
          resample_below == 0 ? filter.weights() : Vector::Constant(50, 1.0 / 50);
      for (int i = 0; i < 2; ++i) {
        const FilterStep step = filter.step(nothing);
        EXPECT_EQ(step.log_predictive, 0) << t;
        EXPECT_FALSE(step.impossible);
        EXPECT_EQ(filter.weights(), weights) << t;
        EXPECT_TRUE(filter.filtered_activation().isApprox(filter.predicted_activation(), 1e-14));
      }
    }
  }
}

// A count in a channel that no component reaches.
TEST(ParticleFilter, AnImpossibleObservationLeavesTheWeightsAsCarried) {
  Matrix basis = random_basis(4, 2, 4, 3);
  basis.row(2).setZero();
  const AnyPrior prior(LogGaussian(2, 0.9, 0.5));
  const Matrix record = reference::simulate_record(prior, basis, 10, 5);
  for (const double resample_below : {0.0, 0.5, 1.0}) {
    ParticleFilter filter(prior, basis, options_for(50, Resampling::kSystematic, resample_below),
                          threads(1));
    ParticleFilter unseeing = filter;
    for (Index t = 0; t < record.cols(); ++t) {
      Vector y = record.col(t);
      const bool is_impossible = t % 3 != 1;
      if (is_impossible) y[2] = 1;
      const FilterStep step = filter.step(as_span(y));
      EXPECT_EQ(step.impossible, is_impossible);
      EXPECT_EQ(step.log_predictive == -kInfinity, is_impossible);
      if (is_impossible) y.setConstant(kNaN);
      unseeing.step(as_span(y));
      EXPECT_EQ(filter.states(), unseeing.states());
      EXPECT_LT((filter.weights() - unseeing.weights()).cwiseAbs().maxCoeff(), 1e-15);
      EXPECT_NEAR(filter.weights().sum(), 1, 1e-14);
    }
  }
}

// Sources that are all off explain no count: such particles die, and an observation that nobody can
// explain does not bring them back.
TEST(ParticleFilter, ParticlesThatCannotExplainACountDie) {
  const AnyPrior prior(BasisSelection(2, 0.6, 0.6));
  Matrix basis = random_basis(3, 2, 4, 3);
  basis.row(2).setZero();
  ParticleFilter filter(prior, basis, options_for(64, Resampling::kSystematic, 0), threads(1));
  filter.step(std::vector<double>{3, 2, 0});
  const Vector weights = filter.weights();
  for (Index i = 0; i < 64; ++i) {
    EXPECT_EQ(weights[i] == 0, filter.activations().row(i).sum() == 0) << i;
  }
  EXPECT_GT((weights.array() == 0).count(), 0);
  EXPECT_NEAR(weights.sum(), 1, 1e-14);
  EXPECT_TRUE(filter.step(std::vector<double>{0, 0, 1}).impossible);
  EXPECT_TRUE(filter.weights().isApprox(weights, 1e-14));
  EXPECT_EQ((filter.weights().array() == 0).count(), (weights.array() == 0).count());
}

// Activations that are not numbers, for particles of a state below a threshold.
struct BrokenPrior : reference::UniformPrior {
  double threshold;
  double value;

  void activations(ConstStates states, Eigen::Ref<Matrix> x) const {
    for (Index i = 0; i < x.rows(); ++i) x(i, 0) = states(i, 0) < threshold ? value : states(i, 0);
  }
};

TEST(ParticleFilter, ActivationsThatAreNoNumbersHaveNoWeight) {
  const Matrix basis = (Matrix(2, 1) << 2, 0).finished();
  const std::vector<double> y = {1, 0};
  for (const double value : {kNaN, kInfinity, -kInfinity, -1.0}) {
    for (const double resample_below : {0.5, 1.0}) {
      const auto options = options_for(200, Resampling::kSystematic, resample_below);
      ParticleFilter filter(AnyPrior(BrokenPrior{{}, 0.4, value}), basis, options, threads(1));
      for (int t = 0; t < 5; ++t) {
        const FilterStep step = filter.step(y);
        EXPECT_FALSE(step.impossible);
        EXPECT_TRUE(std::isfinite(step.log_predictive));
        for (Index i = 0; i < 200; ++i) {
          EXPECT_TRUE(filter.states()(i, 0) >= 0.4 || filter.weights()[i] == 0) << i;
        }
        EXPECT_NEAR(filter.weights().sum(), 1, 1e-14);
        EXPECT_TRUE(filter.filtered_activation().allFinite()) << value;
      }
    }
  }
}

TEST(ParticleFilter, ActivationsOfWhichNoneIsANumberAreReported) {
  const Matrix basis = (Matrix(2, 1) << 2, 0).finished();
  const std::vector<double> y = {1, 0};
  for (const double value : {kNaN, kInfinity}) {
    ParticleFilter filter(AnyPrior(BrokenPrior{{}, 2, value}), basis,
                          options_for(200, Resampling::kSystematic, 0.5), threads(1));
    for (int t = 0; t < 5; ++t) {
      const FilterStep step = filter.step(y);
      EXPECT_TRUE(step.impossible);
      EXPECT_EQ(step.log_predictive, -kInfinity);
      EXPECT_NEAR(step.particles()->effective_size, 200, 1e-9);
      EXPECT_LT((filter.weights().array() - 1.0 / 200).abs().maxCoeff(), 1e-15);
    }
  }
}

// Large counts in a few channels: of the particles that move by the prior hardly any carry weight.
TEST(ParticleFilter, BecomesGuidedWhereTooFewCarryTheWeight) {
  const AnyPrior prior(LogGaussian(3, 0.2, 1.5));
  const Matrix basis = random_basis(8, 3, 400, 1);
  const Matrix record = reference::simulate_record(prior, basis, 200, 2);
  ParticleFilterOptions options = options_for(100, Resampling::kSystematic, 0.5);
  const auto run = [&](const ParticleFilterOptions& given, Index from, Index to,
                       ParticleFilter& filter) {
    double guided = 0;
    ParticleHealth health;
    for (Index t = from; t < to; ++t) {
      const ParticleReport report = *filter.step(Observation(as_span(record.col(t)))).particles();
      guided += report.guided;
      health.add(report, given.num_particles);
    }
    return std::pair(guided, health.recent_part());
  };
  ParticleFilter by_prior(prior, Emission(basis), options, threads(1));
  const auto [never, low] = run(options, 0, 200, by_prior);
  EXPECT_EQ(never, 0);
  ASSERT_LT(low, ParticleHealth::kLowPart);
  options.guided_if_low = true;
  ParticleFilter switching(prior, Emission(basis), options, threads(1));
  EXPECT_EQ(run(options, 0, 100, switching).first, 0);  // it looks at 100 steps before it decides
  // One that is restored goes on as the one that was saved.
  StateArchive written;
  written(switching);
  ParticleFilter restored(prior, Emission(basis), options, threads(1));
  StateArchive read(written.bytes());
  read(restored);
  const auto [guided, better] = run(options, 100, 200, switching);
  EXPECT_EQ(guided, 100);
  EXPECT_GT(better, 5 * low);
  EXPECT_EQ(run(options, 100, 200, restored).second, better);
  EXPECT_EQ(restored.weights(), switching.weights());
}

}  // namespace
}  // namespace headwater
