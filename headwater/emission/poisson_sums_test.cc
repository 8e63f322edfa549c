#include "headwater/emission/poisson_sums.hpp"

#include <gtest/gtest.h>

#include "headwater/core/test_numbers.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/plain_sums.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

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

template <class Sums>
class EmissionSumsTest : public testing::Test {};
using AllSums = testing::Types<PoissonSums, PlainSums>;
TYPED_TEST_SUITE(EmissionSumsTest, AllSums);

TYPED_TEST(EmissionSumsTest, OfABlockOfOneAndOfOneAreTheirDefinition) {
  const Case c;
  const Emission emission(c.basis);
  TypeParam sums;
  Statistics block(5, 3, 0);
  const Observation y(as_span(c.y));
  const Observation* const observations[] = {&y};
  sums.add(c.states, emission, c.weights, observations, block);
  expect_equal(block, by_definition(c));
  Statistics one(5, 3, 0);
  sums.add_one(c.states, emission, c.weights, y, one);
  expect_equal(one, by_definition(c));
}

TYPED_TEST(EmissionSumsTest, CountsOfOneAreS2Alone) {
  const Case c;
  TypeParam sums;
  Statistics found(5, 3, 0);
  sums.add_counts_of_one(c.states, Emission(c.basis), c.weights, Observation(as_span(c.y)), found);
  EXPECT_EQ(found.s1, Vector::Zero(3));
  EXPECT_LT((found.s2 - by_definition(c).s2).cwiseAbs().maxCoeff(), 1e-12);
}

// Counts of one channel that stand in several observations of the block.
TEST(PoissonSums, OfABlockAreThoseOfItsObservations) {
  const Case c;
  const Emission emission(c.basis);
  const std::vector<Observation> y = {Observation(as_span(c.y)), std::vector<double>{0, 0, 4, 1, 0},
                                      std::vector<double>{1, 2, 0, 0, kMissing}};
  const std::vector<const Observation*> observations = {&y[0], &y[1], &y[2]};
  const Matrix weights = Matrix::Random(30, 3).cwiseAbs();
  PoissonSums sums;
  Statistics block(5, 3, 0);
  sums.add(c.states, emission, weights, observations, block);
  Statistics one_by_one(5, 3, 0);
  for (Index t = 0; t < 3; ++t) {
    sums.add_one(c.states, emission, weights.col(t), y[static_cast<std::size_t>(t)], one_by_one);
  }
  expect_equal(block, one_by_one);
}

}  // namespace
}  // namespace headwater
