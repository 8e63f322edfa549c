#include "headwater/filters/optimal_resampling.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headwater {
namespace {

Vector weights_of(Index n) {
  Vector weights(n);
  for (Index i = 0; i < n; ++i) weights[i] = std::exp(-0.3 * static_cast<double>(i * 7 % n));
  return weights / weights.sum();
}

// The mean over the uniform number, by the middles of 20,000 cells: each weight jumps twice, and so
// is off by at most the threshold over 10,000.
TEST(OptimalResampling, WeightsAreRightInExpectation) {
  const Vector weights = weights_of(40);
  const Index cells = 20000;
  for (const Index most : {1, 3, 10, 39}) {
    Vector mean = Vector::Zero(weights.size());
    std::vector<Index> kept;
    for (Index i = 0; i < cells; ++i) {
      Vector thinned = weights;
      const double uniform = (static_cast<double>(i) + 0.5) / static_cast<double>(cells);
      thin_out(as_span(thinned), most, uniform, kept);
      ASSERT_EQ(static_cast<Index>(kept.size()), most);
      double sum = 0;
      for (const Index k : kept) {
        mean[k] += thinned[k] / static_cast<double>(cells);
        sum += thinned[k];
      }
      ASSERT_NEAR(sum, 1, 1e-12);
    }
    EXPECT_LT((mean - weights).cwiseAbs().maxCoeff(), 1e-4);
  }
}

TEST(OptimalResampling, LargeWeightsStay) {
  Vector weights(5);
  weights << 0.5, 0.01, 0.3, 0.09, 0.1;
  std::vector<Index> kept;
  thin_out(as_span(weights), 3, 0.7, kept);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0], 0);
  EXPECT_EQ(kept[1], 2);
  EXPECT_NEAR(weights[0], 0.5, 1e-15);
  EXPECT_NEAR(weights[2], 0.3, 1e-15);
  EXPECT_NEAR(weights[kept[2]], 0.2, 1e-15);
}

TEST(OptimalResampling, KeepsAllWhereTheyAreFew) {
  const Vector before = weights_of(8);
  for (const Index most : {8, 9}) {
    Vector weights = before;
    std::vector<Index> kept;
    thin_out(as_span(weights), most, 0.5, kept);
    EXPECT_EQ(kept.size(), 8u);
    EXPECT_EQ(weights, before);
  }
}

}  // namespace
}  // namespace headwater
