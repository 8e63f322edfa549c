#include "headwater/engines/fast_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/core/digamma.hpp"
#include "headwater/core/special.hpp"
#include "headwater/core/test_numbers.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using reference::run_engine;

FastEngineOptions uncorrected() {
  FastEngineOptions options;
  options.filter.most_corrected = 0;
  options.filter.most_steps = 1000;
  options.filter.tolerance = 1e-10;
  return options;
}

std::vector<AnyPrior> affine_priors(Index components) {
  return {AnyPrior(LogGaussian(components, 0.8, 0.4)), AnyPrior(GammaPrior(components, 1.5, 0.7)),
          AnyPrior(IndependentPrior(components, 0.8))};
}

// The surroundings of the best activation, found as it is defined: by many short steps uphill, the
// slope and curvature of each component written out cell by cell.
struct Naive {
  Vector mean, variance;
  double log_probability;
};

Naive fit_naively(bool is_logarithmic, const Vector& mean, const Vector& variance,
                  const Matrix& basis, const Vector& y) {
  const Index components = mean.size();
  Vector x = Vector::Ones(basis.cols());
  x.head(components) = is_logarithmic ? Vector(mean.array().exp()) : mean;
  const auto slope = [&](Index k) {  // of the log-likelihood, in x_k
    double sum = 0;
    for (Index m = 0; m < y.size(); ++m) {
      if (!std::isnan(y[m])) sum += basis(m, k) * (y[m] / basis.row(m).dot(x) - 1);
    }
    return sum;
  };
  for (int i = 0; i < 20000; ++i) {
    for (Index k = 0; k < components; ++k) {
      const double in_log = x[k] * slope(k);
      const double from_prior = is_logarithmic ? -(std::log(x[k]) - mean[k]) / variance[k]
                                               : (mean[k] - x[k]) * mean[k] / variance[k];
      x[k] *= std::exp(0.01 * (in_log + from_prior));
    }
  }
  Naive fit{x.head(components), variance, 0};
  for (Index m = 0; m < y.size(); ++m) {
    const double intensity = basis.row(m).dot(x);
    if (!std::isnan(y[m])) {
      fit.log_probability += y[m] * std::log(intensity) - intensity - log_factorial(y[m]);
    }
  }
  for (Index k = 0; k < components; ++k) {
    double curvature = 0;
    for (Index m = 0; m < y.size(); ++m) {
      if (y[m] > 0) curvature += y[m] * std::pow(basis(m, k) * x[k] / basis.row(m).dot(x), 2);
    }
    if (is_logarithmic) {
      const double away = std::log(x[k]) - mean[k];
      fit.mean[k] = std::log(x[k]);
      fit.variance[k] = 1 / (1 / variance[k] + curvature);
      fit.log_probability +=
          0.5 * std::log(fit.variance[k] / variance[k]) - 0.5 * away * away / variance[k];
    } else {
      const double rate = mean[k] / variance[k];
      const double shape = mean[k] * rate;
      // x^A exp(-b x), b from the slope at the best activation.
      const double b = curvature / x[k] - slope(k);
      fit.variance[k] = x[k] * x[k] / (shape + curvature);
      fit.log_probability +=
          shape * std::log(rate) - log_gamma(shape) + log_gamma(shape + curvature) -
          (shape + curvature) * std::log(rate + b) - curvature * std::log(x[k]) + b * x[k];
    }
  }
  return fit;
}

TEST(FastFilter, FitsTheSurroundingsOfTheBestActivation) {
  const Matrix basis = random_basis(12, 4, 2, 3);  // the last for a background
  for (const AnyPrior& prior : affine_priors(3)) {
    Matrix record = reference::simulate_record(prior, basis.leftCols(3), 4, 5);
    record(2, 1) = kNaN;
    FastFilter filter(prior, basis, uncorrected().filter);
    for (Index t = 0; t < record.cols(); ++t) {
      const FilterStep step = filter.step(as_span(record.col(t)));
      const Naive naive = fit_naively(prior.moments().is_logarithmic, filter.predicted().mean,
                                      filter.predicted().variance, basis, record.col(t));
      EXPECT_LT((filter.filtered().mean - naive.mean).cwiseAbs().maxCoeff(), 1e-7) << prior.name();
      EXPECT_LT((filter.filtered().variance - naive.variance).cwiseAbs().maxCoeff(), 1e-7);
      EXPECT_NEAR(step.log_predictive, naive.log_probability, 1e-7) << prior.name();
    }
  }
}

TEST(FastFilter, PredictsByTheMomentsOfThePrior) {
  const Matrix basis = random_basis(6, 2, 2, 3);
  for (const AnyPrior& prior : affine_priors(2)) {
    const Matrix record = reference::simulate_record(prior, basis, 2, 5);
    FastFilter filter(prior, basis, {});
    filter.step(as_span(record.col(0)));
    EXPECT_LT((filter.predicted().mean - prior.moments().mean()).norm(), 1e-12);
    const FastFilter::Law before = filter.filtered();
    filter.step(as_span(record.col(1)));
    const AffineMoments moments = prior.moments();
    for (Index k = 0; k < 2; ++k) {
      EXPECT_NEAR(filter.predicted().mean[k],
                  moments.intercept[k] + moments.slope[k] * before.mean[k], 1e-12);
      EXPECT_NEAR(filter.predicted().variance[k],
                  moments.slope[k] * moments.slope[k] * before.variance[k] + moments.noise[k] +
                      moments.noise_slope[k] * before.mean[k],
                  1e-12);
    }
  }
}

// The statistics of a run, added up one observation after another.
TEST(FastEngine, StatisticsAreTheAveragesOfSteps) {
  const Matrix basis = random_basis(7, 3, 2, 3);  // the last for a background
  for (const Index most_corrected : {0, 12}) {
    for (const AnyPrior& prior : affine_priors(2)) {
      Matrix record = reference::simulate_record(prior, basis.leftCols(2), 70, 5);
      record(3, 20) = kNaN;
      record.col(31).setConstant(kNaN);
      FastEngineOptions options;
      options.filter.most_corrected = most_corrected;
      FastEngine engine(prior, basis, options);
      const Statistics found = run_engine(engine, record).statistics;

      FastFilter filter(prior, basis, options.filter);
      Statistics expected(7, 3, prior.num_statistics());
      expected.unseen.setZero(7, 3);
      const double weight = 1.0 / 70;
      for (Index t = 0; t < record.cols(); ++t) {
        filter.step(as_span(record.col(t)));
        for (Index i = 0; i < filter.points().rows(); ++i) {
          const Vector x = filter.points().row(i);
          const double share = weight * filter.weights()[i];
          expected.s1 += share * x;
          for (Index m = 0; m < 7; ++m) {
            if (std::isnan(record(m, t))) {
              expected.unseen.row(m) += share * x.transpose();
            } else {
              expected.s2.row(m) += share * record(m, t) / basis.row(m).dot(x) *
                                    basis.row(m).cwiseProduct(x.transpose());
            }
          }
        }
        if (t > 0) {
          ExpectedMoves moves;
          filter.expect_moves(moves);
          prior.add_expected_statistics(moves, weight, as_span(expected.s3));
        }
      }
      EXPECT_LT((found.s1 - expected.s1).norm(), 1e-12);
      EXPECT_LT((found.s2 - expected.s2).norm(), 1e-10);
      EXPECT_LT((found.s3 - expected.s3).norm(), 1e-11);
      EXPECT_LT((found.unseen - expected.unseen).norm(), 1e-12);
      EXPECT_EQ(found.observations, 70);
    }
  }
}

// One component, of which a fine grid knows the truth. How far the engine is off is no error of
// rounding but of its assumptions; bench_fast_bias prints it.
TEST(FastEngine, IsNearTheTruthForOneComponent) {
  const Matrix basis = random_basis(6, 1, 2, 3);
  for (const AnyPrior& prior : affine_priors(1)) {
    const Matrix record = reference::simulate_record(prior, basis, 100, 5);
    const auto truth = reference::truth_of(prior, basis, record, 256);
    FastEngine engine(prior, basis, {});
    const auto run = run_engine(engine, record);
    EXPECT_NEAR(run.log_likelihood / 100, truth.log_likelihood / 100, 0.003) << prior.name();
    EXPECT_LT((run.filtered_means.col(0) - truth.filtered_means.col(0)).cwiseAbs().mean(), 0.01)
        << prior.name();
    FastFilter filter(prior, basis, {});
    const Matrix smoothed = fast_smoothed_activations(filter, Record(record));
    EXPECT_LT((smoothed.col(0) - truth.smoothed_means.col(0)).cwiseAbs().mean(), 0.02)
        << prior.name();
  }
}

// What ARCHITECTURE.md says of its bias at 1, 10 and 100 counts a step: log-likelihoods off by
// .003, means by .004, columns by 1.5, .3 and .04 %, each up to half a unit of its last digit more.
TEST(FastEngine, IsAsLittleBiasedAsIsSaid) {
  constexpr Index kLength = 1000;
  const Matrix shape = random_basis(10, 1, 1, 1);
  const auto column_of = [](const Statistics& s) { return s.s2.sum() / s.s1.sum(); };
  const std::vector<std::pair<double, double>> column_bias = {
      {1, 0.0155}, {10, 0.0035}, {100, 4.5e-4}};
  for (const auto& [counts, most] : column_bias) {
    const Matrix basis = shape * (counts / shape.sum());
    for (const AnyPrior& prior :
         {AnyPrior(LogGaussian(1, 0.9, 0.3)), AnyPrior(GammaPrior(1, 2, 0.8)),
          AnyPrior(IndependentPrior(1, 2))}) {
      const Matrix record = reference::simulate_record(prior, basis, kLength, 1);
      const auto truth = reference::truth_of(prior, basis, record, 256);
      FastEngine engine(prior, basis, {});
      const auto run = run_engine(engine, record);
      EXPECT_NEAR(run.log_likelihood / kLength, truth.log_likelihood / kLength, 0.0035)
          << prior.name() << ' ' << counts;
      EXPECT_NEAR(run.filtered_means.sum() / truth.filtered_means.sum(), 1, 0.0045)
          << prior.name() << ' ' << counts;
      EXPECT_NEAR(column_of(run.statistics) / column_of(truth.statistics), 1, most)
          << prior.name() << ' ' << counts;
    }
  }
}

TEST(FastEngine, ImpossibleObservationsAreAsMissing) {
  Matrix basis = random_basis(4, 2, 3, 3);
  basis.row(1).setZero();
  for (const AnyPrior& prior : affine_priors(2)) {
    Matrix record = reference::simulate_record(prior, basis, 40, 5);
    Matrix with_gaps = record;
    for (const Index t : {0, 1, 17, 39}) {
      record(1, t) = 2;
      with_gaps.col(t).setConstant(kNaN);
    }
    FastEngine engine(prior, basis, {});
    FastEngine other(prior, basis, {});
    const auto run = run_engine(engine, record);
    const auto truth = run_engine(other, with_gaps);
    EXPECT_EQ(run.impossible, 4);
    EXPECT_EQ(truth.impossible, 0);
    EXPECT_NEAR(run.log_likelihood, truth.log_likelihood, 1e-10);
    EXPECT_LT((run.statistics.s2 - truth.statistics.s2).norm(), 1e-10);
    EXPECT_LT((run.statistics.s3 - truth.statistics.s3).norm(), 1e-10);
    EXPECT_LT((run.statistics.unseen - truth.statistics.unseen).norm(), 1e-10);
  }
}

TEST(FastEngine, ACloneGoesOnBitForBit) {
  const AnyPrior prior(LogGaussian(3, 0.8, 0.4));
  const Matrix basis = random_basis(8, 3, 1, 3);
  const Matrix record = reference::simulate_record(prior, basis, 60, 5);
  FastEngine engine(prior, basis, {});
  run_engine(engine, record.leftCols(33));
  const auto clone = engine.clone();
  const auto truth = run_engine(engine, record.rightCols(27));
  const auto run = run_engine(*clone, record.rightCols(27));
  EXPECT_EQ(run.filtered_means, truth.filtered_means);
  EXPECT_EQ(run.statistics.s2, truth.statistics.s2);
}

TEST(FastEngine, TakesPriorsWithAffineMoments) {
  const Matrix basis = Matrix::Ones(2, 2);
  EXPECT_THROW(FastEngine(AnyPrior(BasisSelection(2, 0.8, 0.7)), basis, {}), UsageError);
}

}  // namespace
}  // namespace headwater
