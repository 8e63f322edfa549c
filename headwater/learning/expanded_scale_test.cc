#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "headwater/learning/estimate.hpp"
#include "headwater/learning/m_step.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/streams.hpp"

// Batch EM with one component, whose E-step is exact on a grid: the scale of a column that starts
// 1.3 times too large is learned in the basis alone, or in basis and prior at once.
namespace headwater {
namespace {

constexpr Index kCells = 256;
constexpr Index kScaleLength = 200;
const Vector kShape = (Vector(4) << 0.4, 0.3, 0.2, 0.1).finished();

struct ScaleStream {
  ScaleStream(AnyPrior law, double counts)
      : prior(std::move(law)),
        truth(counts * kShape),
        record(reference::simulate_record(prior, truth, kScaleLength, 3)) {}
  AnyPrior prior;
  Matrix truth;
  Matrix record;

  reference::GridTruth e_step(const Estimate& estimate) const {
    return reference::truth_of(estimate.prior, estimate.basis, record, kCells);
  }
};

MStep m_step_of(const ScaleStream& stream, Scale scale) {
  MStepOptions options;
  options.drop_weak_priors();
  options.scale = scale;
  for (const Parameter& parameter : stream.prior.parameters()) {
    options.held_parameters.push_back(parameter.name);
  }
  return {options, stream.truth, stream.prior};
}

Estimate after_m_step(const MStep& m_step, const Statistics& statistics, Estimate estimate) {
  m_step.update_basis(statistics, estimate.basis);
  m_step.update_prior(statistics, estimate.prior);
  return with_unit_scale(std::move(estimate));
}

// The sum of the column after each iteration.
std::vector<double> sums_of_em(const ScaleStream& stream, Scale scale, int iterations) {
  const MStep m_step = m_step_of(stream, scale);
  Estimate estimate{1.3 * stream.truth, stream.prior};
  std::vector<double> sums;
  for (int i = 0; i < iterations; ++i) {
    estimate = after_m_step(m_step, stream.e_step(estimate).statistics, estimate);
    sums.push_back(estimate.basis.sum());
  }
  return sums;
}

// The sum that makes the record most likely, by golden sections. Whatever the scale, the best
// shape of a single column is that of the counts.
double best_sum(const ScaleStream& stream) {
  const Vector shape = stream.record.rowwise().sum() / stream.record.sum();
  const auto value = [&](double log_sum) {
    return stream.e_step({std::exp(log_sum) * shape, stream.prior}).log_likelihood;
  };
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(stream.truth.sum()) - 1;
  double high = low + 2;
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = value(left);
  double at_right = value(right);
  while (high - low > 2e-3) {
    if (at_left > at_right) {
      high = std::exchange(right, left);
      at_right = at_left;
      at_left = value(left = high - ratio * (high - low));
    } else {
      low = std::exchange(left, right);
      at_left = at_right;
      at_right = value(right = low + ratio * (high - low));
    }
  }
  return std::exp((low + high) / 2);
}

// The M-step takes the mean of log x for its centre, the likelihood lets the ends of the record
// weigh 1 / (1 - persistence) times as much as the rest: that differs by less than half a standard
// error, which is that of kScaleLength (1 - .7) / (1 + .7) independent ones, and costs less than an
// eighth of a nat.
TEST(ExpandedScale, IsFoundInAFewIterationsWhateverTheCounts) {
  const double error = 0.5 / std::sqrt(1 - 0.7 * 0.7) / std::sqrt(kScaleLength * 0.3 / 1.7);
  for (const double counts : {4, 40, 400}) {
    const ScaleStream stream(AnyPrior(LogGaussian(1, 0.7, 0.5)), counts);
    const double best = best_sum(stream);
    const double start = 1.3 * stream.truth.sum();
    const auto plain = sums_of_em(stream, Scale::kPlain, 10);
    const auto expanded = sums_of_em(stream, Scale::kExpanded, 4);
    EXPECT_NEAR(std::log(expanded[2] / best), 0, 0.5 * error) << counts;
    EXPECT_NEAR(expanded[2] / expanded[3], 1, 1e-3) << counts;
    const double way = std::abs(std::log(start / best));
    EXPECT_GT(way, error) << counts;
    EXPECT_LT(std::abs(std::log(start / plain[9])), 0.5 * way) << counts;
    if (counts > 4) {
      EXPECT_LT(std::abs(std::log(start / plain[9])), 0.1 * way) << counts;
    }
  }
}

std::vector<double> likelihoods_of_em(const ScaleStream& stream, int iterations) {
  const MStep m_step = m_step_of(stream, Scale::kExpanded);
  Estimate estimate{1.3 * stream.truth, stream.prior};
  std::vector<double> values;
  for (int i = 0; i < iterations; ++i) {
    const reference::GridTruth truth = stream.e_step(estimate);
    values.push_back(truth.log_likelihood);
    estimate = after_m_step(m_step, truth.statistics, std::move(estimate));
  }
  return values;
}

// But for rounding; where the M-step leaves the ends out, but for what that costs.
TEST(ExpandedScale, NeverLowersTheLikelihood) {
  for (const double counts : {4, 40, 400}) {
    const auto exact = likelihoods_of_em({AnyPrior(IndependentPrior(1, 2)), counts}, 5);
    for (std::size_t i = 1; i < exact.size(); ++i) {
      EXPECT_GE(exact[i], exact[i - 1] - 1e-12 * std::abs(exact[i])) << counts << ", " << i;
    }
    const auto without_ends = likelihoods_of_em({AnyPrior(LogGaussian(1, 0.7, 0.5)), counts}, 5);
    EXPECT_GT(without_ends[1], without_ends[0] + 0.5) << counts;
    for (std::size_t i = 2; i < without_ends.size(); ++i) {
      EXPECT_GE(without_ends[i], without_ends[i - 1] - 0.125) << counts << ", " << i;
    }
  }
}

// Moments: counts are expected to have the mean that they have, after one iteration, but for the
// first observation, whose activation no move ends at.
TEST(ExpandedScale, OfGammaIsTheMeanOfTheCounts) {
  for (const double counts : {4, 40, 400}) {
    const ScaleStream stream(AnyPrior(GammaPrior(1, 2, 0.8)), counts);
    const double mean = stream.record.colwise().sum().mean();
    EXPECT_NEAR(sums_of_em(stream, Scale::kExpanded, 1)[0] / mean, 1, 0.02) << counts;
    EXPECT_GT(sums_of_em(stream, Scale::kPlain, 1)[0] / mean, 1.2) << counts;
  }
}

}  // namespace
}  // namespace headwater
