#include "headwater/learning/laplace_path.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();

Matrix basis_of_two(double counts) {
  Matrix basis(4, 2);
  basis << 0.5, 0.1, 0.3, 0.2, 0.1, 0.4, 0.1, 0.3;
  return counts * basis;
}

// Under `log-gaussian` and the Poisson law, written down once more: log p(y, u) for a path of two
// components, u_1, u_2, ... one after another.
double plain_log_density(const Matrix& record, const Matrix& basis, const Vector& path) {
  constexpr double kPersistence = 0.8;
  constexpr double kSpreadOfMoves = 0.4;
  const Index components = basis.cols();
  double sum = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    const Vector u = path.segment(t * components, components);
    for (Index k = 0; k < components; ++k) {
      const double mean = t == 0 ? 0 : kPersistence * path[(t - 1) * components + k];
      const double spread =
          t == 0 ? kSpreadOfMoves / std::sqrt(1 - kPersistence * kPersistence) : kSpreadOfMoves;
      const double z = (u[k] - mean) / spread;
      sum -= z * z / 2 + std::log(spread) + std::log(2 * M_PI) / 2;
    }
    const Vector intensities = basis * u.array().exp().matrix();
    for (Index m = 0; m < basis.rows(); ++m) {
      if (std::isnan(record(m, t))) continue;
      sum +=
          record(m, t) * std::log(intensities[m]) - intensities[m] - std::lgamma(record(m, t) + 1);
    }
  }
  return sum;
}

// Minus the second derivative, by differences.
Matrix plain_precision(const Matrix& record, const Matrix& basis, const Vector& path) {
  constexpr double kStep = 1e-3;
  const Index n = path.size();
  Matrix precision(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (const double a : {-1.0, 1.0}) {
        for (const double b : {-1.0, 1.0}) {
          Vector moved = path;
          moved[i] += a * kStep;
          moved[j] += b * kStep;
          sum += a * b * plain_log_density(record, basis, moved);
        }
      }
      precision(i, j) = -sum / (4 * kStep * kStep);
    }
  }
  return precision;
}

TEST(LaplacePath, ModeCovariancesAndValueAreThoseOfTheWholePath) {
  constexpr Index kSteps = 6;
  const Matrix basis = basis_of_two(60);
  const AnyPrior prior(LogGaussian(2, 0.8, 0.4));
  Matrix record = reference::simulate_record(prior, basis, kSteps, 4);
  record(1, 2) = kNotSeen;
  record.col(4).setConstant(kNotSeen);
  const Record rows(record);
  LaplacePath path(rows);
  const double log_likelihood = path.fit({basis, prior});
  const Vector mode = path.modes().reshaped();
  const Matrix precision = plain_precision(record, basis, mode);
  const double value = plain_log_density(record, basis, mode);

  for (Index i = 0; i < mode.size(); ++i) {
    Vector up = mode;
    Vector down = mode;
    up[i] += 1e-4;
    down[i] -= 1e-4;
    const double slope =
        (plain_log_density(record, basis, up) - plain_log_density(record, basis, down)) / 2e-4;
    EXPECT_NEAR(slope / precision(i, i), 0, 1e-4);
  }
  const Matrix covariance = precision.inverse();
  for (Index t = 0; t < kSteps; ++t) {
    EXPECT_LT((path.covariance(t) - covariance.block(2 * t, 2 * t, 2, 2)).norm(),
              1e-4 * path.covariance(t).norm());
  }
  const double log_determinant = precision.ldlt().vectorD().array().log().sum();
  const auto n = static_cast<double>(mode.size());
  EXPECT_NEAR(log_likelihood, value + (n * std::log(2 * M_PI) - log_determinant) / 2, 1e-3);
}

// For one component, sums over a grid are exact. The error of the log-likelihood falls as one over
// the counts, that of the statistics as one over their square: a first order that was wrong would
// be far outside of the bounds.
TEST(LaplacePath, ForOneComponentTheLikelihoodAndTheStatisticsAreThoseOfAGrid) {
  const Matrix shape = (Vector(4) << 0.4, 0.3, 0.2, 0.1).finished();
  for (const AnyPrior& prior : {AnyPrior(LogGaussian(1, 0.9, 0.3)), AnyPrior(GammaPrior(1, 2, 0.8)),
                                AnyPrior(IndependentPrior(1, 2))}) {
    for (const double counts : {30.0, 300.0}) {
      const Matrix basis = counts * shape;
      const Matrix record = reference::simulate_record(prior, basis, 100, 5);
      const reference::GridTruth truth = reference::truth_of(prior, basis, record, 512);
      const Record rows(record);
      LaplacePath path(rows);
      const double log_likelihood = path.fit({basis, prior});
      const Statistics found = path.statistics({basis, prior}, true);
      const double order = 1 / counts;
      EXPECT_NEAR(log_likelihood, truth.log_likelihood, 100 * order) << prior.name();
      EXPECT_NEAR(found.s1[0] / truth.statistics.s1[0], 1, order * order * 5) << prior.name();
      EXPECT_LT(reference::largest_relative_difference(found.s2, truth.statistics.s2),
                order * order * 5 + 1e-9)
          << prior.name();
    }
  }
}

// d log p(y) / d B(m, k) = T (s2 / B - s1 + unseen): that is what makes steps of EM climb.
TEST(LaplacePath, StatisticsAreTheSlopeOfTheLikelihood) {
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.8, 0.4)), AnyPrior(GammaPrior(2, 2, 0.7))}) {
    Matrix basis(4, 3);  // with a background
    basis << basis_of_two(40), Vector::Constant(4, 0.7);
    constexpr Index kSteps = 40;
    Matrix record = reference::simulate_record(prior, basis.leftCols(2), kSteps, 6);
    for (Index t = 0; t < kSteps; t += 5) record(t % 4, t) = kNotSeen;
    Matrix exposures = Matrix::Ones(4, kSteps);
    exposures.col(3).setConstant(1.5);
    const Record rows(record, exposures);
    const Estimate estimate{basis, prior};
    LaplacePath path(rows);
    path.fit(estimate);
    const Statistics statistics = path.statistics(estimate, true);
    for (Index m = 0; m < 4; ++m) {
      for (Index k = 0; k < 3; ++k) {
        const double slope =
            kSteps * (statistics.s2(m, k) / basis(m, k) - statistics.exposure(m, k));
        const double step = 1e-3 * basis(m, k);
        double values[2];
        for (int side = 0; side < 2; ++side) {
          Estimate moved = estimate;
          moved.basis(m, k) += side == 0 ? -step : step;
          LaplacePath own(rows);
          values[side] = own.fit(moved);
        }
        const double difference = (values[1] - values[0]) / 2e-3;  // in log B
        EXPECT_NEAR(slope * basis(m, k), difference, 0.02 + 0.01 * std::abs(difference))
            << prior.name() << " " << m << " " << k;
      }
    }
  }
}

TEST(LaplacePath, SequencesKnowNothingOfEachOther) {
  const Matrix basis = basis_of_two(60);
  const AnyPrior prior(LogGaussian(2, 0.8, 0.4));
  const Matrix record = reference::simulate_record(prior, basis, 20, 8);
  const Record first(record.leftCols(12));
  const Record second(record.rightCols(8));
  Record both(record.leftCols(12));
  for (Index t = 0; t < second.size(); ++t) {
    Observation y = second[t];
    y.set_begins_sequence(t == 0);
    both.add(y);
  }
  double sum = 0;
  for (const Record* record_of_one : {&first, &second}) {
    LaplacePath path(*record_of_one);
    sum += path.fit({basis, prior});
  }
  LaplacePath path(both);
  EXPECT_NEAR(path.fit({basis, prior}), sum, 1e-6);
}

}  // namespace
}  // namespace headwater
