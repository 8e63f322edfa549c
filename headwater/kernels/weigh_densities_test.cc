#include "headwater/kernels/weigh_densities.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/kernels/test_support.hpp"
#include "headwater/matrix.hpp"

namespace headwater {
namespace {

TEST(WeighDensities, EqualTheirDefinition) {
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      if (n == 0) continue;
      const auto size = static_cast<Index>(n);
      Vector weights = Vector::Random(size).cwiseAbs();
      if (n > 3) weights[2] = 0;
      const Vector log_densities = 500 + 30 * Vector::Random(size).array();
      Vector expected = (log_densities.array() - 500).exp() * weights.array();
      expected /= expected.sum();
      Vector values = log_densities;
      ASSERT_TRUE(weigh_densities(as_span(weights), as_span(values)));
      EXPECT_LT((values - expected).cwiseAbs().maxCoeff(), 1e-13) << n;
    }
  });
}

TEST(WeighDensities, ADensityOfZeroHasNoPart) {
  under_each_instruction_set([] {
    const std::vector<double> weights(7, 1.0 / 7);
    std::vector<double> values = {-kInfinity, 0, 0, -kInfinity, -kInfinity, -kInfinity, 0};
    ASSERT_TRUE(weigh_densities(weights, values));
    for (const std::size_t i : {0u, 3u, 4u, 5u}) EXPECT_EQ(values[i], 0);
    for (const std::size_t i : {1u, 2u, 6u}) EXPECT_NEAR(values[i], 1.0 / 3, 1e-15);
  });
}

TEST(WeighDensities, SaysWhereNothingIsLeft) {
  under_each_instruction_set([] {
    const std::vector<double> weights = {0, 0.5, 0.5, 0, 0};
    std::vector<double> impossible(5, -kInfinity);
    EXPECT_FALSE(weigh_densities(weights, impossible));
    std::vector<double> far_apart = {0, -1000, -2000, 0, 0};  // the largest values have weight zero
    EXPECT_FALSE(weigh_densities(weights, far_apart));
    std::vector<double> barely_there = {0, -715, -716, 0, 0};  // 1 / sum would overflow
    EXPECT_FALSE(weigh_densities(weights, barely_there));
    std::vector<double> unbounded = {0, kInfinity, 0, 0, 0};
    EXPECT_FALSE(weigh_densities(weights, unbounded));
    std::vector<double> no_number = {0, std::nan(""), 0, 0, 0};
    EXPECT_FALSE(weigh_densities(weights, no_number));
  });
}

}  // namespace
}  // namespace headwater
