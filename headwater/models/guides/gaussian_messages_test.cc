#include "headwater/models/guides/gaussian_messages.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <limits>
#include <vector>

#include "headwater/emission.hpp"

namespace headwater {
namespace {

// An observation under a basis, and what it says.
struct LookedAt {
  LookedAt(const std::vector<double>& counts, const Matrix& basis) : emission(basis), y(counts) {
    emission.look_at(y, evidence);
  }
  Emission emission;
  Observation y;
  Evidence evidence;
};

// The mode inside its bounds, by steps so short that nothing but their end matters.
Vector climb(const std::vector<double>& y, const Matrix& basis, const Vector& means,
             const Vector& variances) {
  const Eigen::Map<const Vector> counts(y.data(), basis.rows());
  Vector x = means;
  for (int i = 0; i < 20000; ++i) {
    const Vector slope =
        basis.transpose() * (counts.cwiseQuotient(basis * x).array() - 1).matrix() -
        (x - means).cwiseQuotient(variances);
    x += 1e-4 * slope;
  }
  return x;
}

TEST(GaussianMessages, AreTheirDefinition) {
  const Matrix basis = (Matrix(4, 3) << 9, 2, 4, 3, 8, 5, 6, 1, 7, 2, 5, 5).finished();
  const std::vector<double> y = {8, 9, 10, 6};
  const Vector means = (Vector(3) << 0.5, 0.6, 0.7).finished();
  const Vector variances = (Vector(3) << 0.2, 0.3, 0.1).finished();
  GaussianMessages messages;
  messages.fit(LookedAt(y, basis).evidence, means, variances, Vector::Constant(3, 5.0));

  const Vector mode = climb(y, basis, means, variances);
  const Vector intensities = basis * mode;
  Matrix inverse = variances.cwiseInverse().asDiagonal();
  for (Index m = 0; m < 4; ++m) {
    inverse += y[m] / (intensities[m] * intensities[m]) * basis.row(m).transpose() * basis.row(m);
  }
  const Matrix s = inverse.inverse();
  for (Index k = 0; k < 3; ++k) {
    const double p = 1 / s(k, k) - 1 / variances[k];
    const double pr = mode[k] / s(k, k) - means[k] / variances[k];
    EXPECT_NEAR(messages.precisions()[k], p, 1e-6 * p);
    EXPECT_NEAR(messages.log_value(k, 0.3), pr * 0.3 - p * 0.09 / 2, 1e-6);
  }
}

// Of two sources that look the same, and whose sum alone is known, either may be on.
TEST(GaussianMessages, SayLittleOfComponentsThatLookAlike) {
  const std::vector<double> y = {300, 300};
  const Matrix alike = Matrix::Constant(2, 2, 300.0);
  Matrix apart = Matrix::Zero(2, 2);
  apart.diagonal().setConstant(300);
  const Vector half = Vector::Constant(2, 0.5);
  const Vector variances = Vector::Constant(2, 0.25);
  GaussianMessages messages;
  messages.fit(LookedAt(y, alike).evidence, half, variances, Vector::Ones(2));
  EXPECT_LT(messages.precisions().maxCoeff(), 5);
  EXPECT_NEAR(messages.log_value(0, 1) - messages.log_value(0, 0), 0, 0.1);
  messages.fit(LookedAt(y, apart).evidence, half, variances, Vector::Ones(2));
  EXPECT_GT(messages.precisions().minCoeff(), 200);
  EXPECT_GT(messages.log_value(0, 1) - messages.log_value(0, 0), 50);
}

TEST(GaussianMessages, NothingSeenSaysNothing) {
  const std::vector<double> missing(2, std::numeric_limits<double>::quiet_NaN());
  GaussianMessages messages;
  messages.fit(LookedAt(missing, Matrix::Ones(2, 2)).evidence, Vector::Constant(2, 0.5),
               Vector::Constant(2, 0.25), Vector::Ones(2));
  EXPECT_NEAR(messages.precisions().maxCoeff(), 0, 1e-12);
  EXPECT_NEAR(messages.log_value(0, 1), 0, 1e-12);
}

}  // namespace
}  // namespace headwater
