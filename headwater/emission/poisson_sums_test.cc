#include "headwater/smoothers/emission_statistics.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct Case {
  Matrix states = (Matrix::Random(30, 3).array() + 0.5).max(0);
  Matrix basis = Matrix::Random(5, 3).cwiseAbs();
  Vector weights = Vector::Random(30).cwiseAbs();
  Vector y = Vector{{3, 0, kMissing, 7.5, 1}};
};

Statistics by_definition(const Case& c) {
  Statistics expected(5, 3, 0);
  expected.unseen.setZero(5, 3);
  for (Index i = 0; i < c.states.rows(); ++i) {
    const Vector x = c.weights[i] * c.states.row(i).transpose();
    expected.s1 += x;
    for (Index m = 0; m < 5; ++m) {
      const double intensity = c.basis.row(m).dot(c.states.row(i));
      if (std::isnan(c.y[m])) expected.unseen.row(m) += x.transpose();
      if (!(c.y[m] > 0 && intensity > 0)) continue;
      expected.s2.row(m) += c.y[m] / intensity * c.basis.row(m).cwiseProduct(x.transpose());
    }
  }
  return expected;
}

void expect_equal(const Statistics& found, const Statistics& expected) {
  EXPECT_LT(reference::largest_relative_difference(found.s1, expected.s1), 1e-13);
  EXPECT_LT((found.s2 - expected.s2).cwiseAbs().maxCoeff(), 1e-13 * expected.s2.maxCoeff());
  EXPECT_LT((found.unseen - expected.unseen).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(EmissionStatistics, OfABlockOfOneAndOfOneAreTheirDefinition) {
  const Case c;
  EmissionStatistics emission;
  Statistics block(5, 3, 0);
  const Observation y = as_span(c.y);
  emission.add(c.states, c.basis, c.weights, {&y, 1}, block);
  expect_equal(block, by_definition(c));
  Statistics one(5, 3, 0);
  emission.add_one(c.states, c.basis, c.weights, as_span(c.y), one);
  expect_equal(one, by_definition(c));
}

TEST(EmissionStatistics, CountsOfOneAreS2Alone) {
  const Case c;
  EmissionStatistics emission;
  Statistics found(5, 3, 0);
  emission.add_counts_of_one(c.states, c.basis, c.weights, as_span(c.y), found);
  EXPECT_EQ(found.s1, Vector::Zero(3));
  EXPECT_LT((found.s2 - by_definition(c).s2).cwiseAbs().maxCoeff(), 1e-12);
}

}  // namespace
}  // namespace headwater
