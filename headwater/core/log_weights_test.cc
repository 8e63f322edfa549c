#include "headwater/core/log_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace headwater {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LogWeights, AreNormalised) {
  std::vector<double> log_weights = {std::log(1.0), std::log(3.0), -kInfinity};
  std::vector<double> weights(3);
  EXPECT_NEAR(normalise_log_weights(log_weights, weights), std::log(4.0), 1e-15);
  EXPECT_NEAR(weights[0], 0.25, 1e-15);
  EXPECT_NEAR(weights[1], 0.75, 1e-15);
  EXPECT_EQ(weights[2], 0);
  EXPECT_NEAR(log_weights[1], std::log(0.75), 1e-15);
  EXPECT_EQ(log_weights[2], -kInfinity);
}

TEST(LogWeights, MayBeFarFromZero) {
  for (const double shift : {-1e5, 1e5}) {
    std::vector<double> log_weights = {shift, shift + std::log(3.0)};
    std::vector<double> weights(2);
    EXPECT_NEAR(normalise_log_weights(log_weights, weights), shift + std::log(4.0), 1e-10);
    EXPECT_NEAR(weights[1], 0.75, 1e-10);
  }
}

TEST(LogWeights, ThatAreNotFiniteCountForNothing) {
  std::vector<double> log_weights = {std::nan(""), 0, kInfinity};
  std::vector<double> weights(3);
  EXPECT_EQ(normalise_log_weights(log_weights, weights), 0);
  EXPECT_EQ(weights, (std::vector<double>{0, 1, 0}));
}

TEST(LogWeights, WithoutAnyPositiveOneLeaveTheWeights) {
  std::vector<double> log_weights = {-kInfinity, std::nan("")};
  std::vector<double> weights = {0.25, 0.75};
  EXPECT_EQ(normalise_log_weights(log_weights, weights), -kInfinity);
  EXPECT_EQ(weights, (std::vector<double>{0.25, 0.75}));
}

}  // namespace
}  // namespace headwater
