#include "headwater/learning/kl_nmf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/core/test_numbers.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

Matrix record(Index num_channels, Index num_components, double scale, Index length) {
  return reference::simulate_record(AnyPrior(BasisSelection(num_components, 0.8, 0.7)),
                                    random_basis(num_channels, num_components, scale, 61), length,
                                    62);
}

// Cells missing here and there, a channel and an observation without counts, others unseen.
Matrix gappy(Matrix observations) {
  for (Index i = 0; i < observations.size(); i += 7) observations(i) = kMissing;
  observations.row(1).setZero();
  observations.row(2).setConstant(kMissing);
  observations.col(3).setZero();
  observations.col(4).setConstant(kMissing);
  return observations;
}

void expect_to_fall(const Matrix& observations, const Matrix& start) {
  double before = kl_nmf(observations, start, 0).divergence;
  ASSERT_TRUE(std::isfinite(before));
  for (int iterations = 1; iterations < 60; ++iterations) {
    const Factorisation found = kl_nmf(observations, start, iterations);
    ASSERT_LE(found.divergence, before * (1 + 1e-12)) << iterations;
    ASSERT_GE(found.basis.minCoeff(), 0);
    ASSERT_GE(found.activations.minCoeff(), 0);
    ASSERT_TRUE(found.basis.allFinite() && found.activations.allFinite());
    before = found.divergence;
  }
}

TEST(KlNmf, NeverRaisesTheDivergence) {
  const Matrix start = random_basis(6, 3, 1, 63);
  expect_to_fall(record(6, 3, 10, 40), start);
  expect_to_fall(gappy(record(6, 3, 10, 40)), start);
  expect_to_fall(record(6, 3, 0.05, 40), start);  // nearly all counts are zero
}

// The updates cell by cell, as in the formula.
Factorisation by_formula(const Matrix& y, Matrix b, Matrix x) {
  const auto seen = [&](Index m, Index t) { return !std::isnan(y(m, t)); };
  const Matrix old_x = x;
  Matrix intensity = b * x;
  for (Index k = 0; k < x.rows(); ++k) {
    for (Index t = 0; t < x.cols(); ++t) {
      double above = 0;
      double below = 0;
      for (Index m = 0; m < b.rows(); ++m) {
        if (!seen(m, t)) continue;
        above += b(m, k) * y(m, t) / intensity(m, t);
        below += b(m, k);
      }
      x(k, t) = old_x(k, t) * above / below;
    }
  }
  intensity = b * x;
  const Matrix old_b = b;
  for (Index m = 0; m < b.rows(); ++m) {
    for (Index k = 0; k < b.cols(); ++k) {
      double above = 0;
      double below = 0;
      for (Index t = 0; t < x.cols(); ++t) {
        if (!seen(m, t)) continue;
        above += y(m, t) / intensity(m, t) * x(k, t);
        below += x(k, t);
      }
      b(m, k) = old_b(m, k) * above / below;
    }
  }
  return {b, x, 0};
}

TEST(KlNmf, IsTheFormula) {
  Matrix observations = record(5, 3, 10, 20).array() + 1;  // the formula divides where it likes
  observations(2, 4) = kMissing;
  observations(0, 9) = kMissing;
  const Matrix start = random_basis(5, 3, 1, 64);
  const Factorisation before = kl_nmf(observations, start, 4);
  const Factorisation truth = by_formula(observations, before.basis, before.activations);
  const Factorisation found = kl_nmf(observations, start, 5);
  EXPECT_LT(reference::largest_relative_difference(found.basis, truth.basis), 1e-13);
  EXPECT_LT(reference::largest_relative_difference(found.activations, truth.activations), 1e-13);
}

// After an update of the basis, its intensities add up to the counts in each channel, over the
// cells that are seen.
TEST(KlNmf, KeepsTheSumOfEachChannel) {
  const Matrix observations = gappy(record(6, 3, 10, 40));
  const Factorisation found = kl_nmf(observations, random_basis(6, 3, 1, 65), 10);
  const Matrix intensity = found.basis * found.activations;
  for (Index m = 0; m < 6; ++m) {
    double counts = 0;
    double expected = 0;
    for (Index t = 0; t < 40; ++t) {
      if (std::isnan(observations(m, t))) continue;
      counts += observations(m, t);
      expected += intensity(m, t);
    }
    EXPECT_NEAR(expected, counts, 1e-11 * (1 + counts)) << m;
  }
}

// A product of two factors that take turns in being zero has no other factors, but for the scale.
TEST(KlNmf, FindsASeparableBasis) {
  Matrix basis(4, 2);
  basis << 3, 0, 1, 0, 0, 2, 0, 5;
  Matrix x(2, 6);
  x << 1, 2, 0, 4, 0, 3, 0, 1, 5, 2, 2, 0;
  const Factorisation found = kl_nmf(basis * x, random_basis(4, 2, 1, 66), 2000);
  EXPECT_LT(found.divergence, 1e-6);
  const auto shapes = [](Matrix b) {
    b.array().rowwise() /= b.array().colwise().sum().eval();
    return b;
  };
  const Matrix truth = shapes(basis);
  EXPECT_LT(relative_error(in_order_of(shapes(found.basis), truth), truth), 1e-3);
}

TEST(KlNmf, LeavesWhatIsNotSeenAsItStarts) {
  const Matrix start = random_basis(6, 3, 1, 67);
  const Factorisation found = kl_nmf(gappy(record(6, 3, 10, 40)), start, 20);
  EXPECT_EQ(found.basis.row(1).maxCoeff(), 0);
  EXPECT_EQ(found.basis.row(2), start.row(2));
  EXPECT_EQ(found.activations.col(3).maxCoeff(), 0);
  EXPECT_EQ(found.activations.col(4).maxCoeff(), 0);
}

TEST(KlNmf, TakesBlocksWithoutCounts) {
  const Matrix start = random_basis(3, 2, 1, 68);
  for (const Matrix& observations :
       {Matrix(3, 0), Matrix(Matrix::Zero(3, 5)), Matrix(Matrix::Constant(3, 5, kMissing))}) {
    const Factorisation found = kl_nmf(observations, start, 5);
    EXPECT_EQ(found.basis, start);
    EXPECT_EQ(found.divergence, 0);
    EXPECT_EQ(found.activations, Matrix(Matrix::Zero(2, observations.cols())));
  }
}

}  // namespace
}  // namespace headwater
