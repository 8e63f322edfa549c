#include "headwater/kernels/log_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

TEST(LogWeights, AreNormalised) {
  under_each_instruction_set([] {
    std::vector<double> log_weights = {std::log(1.0), std::log(3.0), -kInfinity};
    std::vector<double> weights(3);
    double effective_size = 0;
    EXPECT_NEAR(normalise_log_weights(log_weights, weights, &effective_size), std::log(4.0), 1e-15);
    EXPECT_NEAR(weights[0], 0.25, 1e-15);
    EXPECT_NEAR(weights[1], 0.75, 1e-15);
    EXPECT_EQ(weights[2], 0);
    EXPECT_NEAR(log_weights[1], std::log(0.75), 1e-15);
    EXPECT_EQ(log_weights[2], -kInfinity);
    EXPECT_NEAR(effective_size, 1.6, 1e-15);
  });
}

// The log-weights range down to where their exponentials underflow, for vectors of any length.
TEST(LogWeights, AreThoseOfTheirDefinition) {
  Generator generator = RandomStream(74).at(0, 0, Purpose::basis);
  std::vector<double> given(1100);
  for (double& log_weight : given) log_weight = 300 - 760 * std::pow(generator.uniform(), 3);
  under_each_instruction_set([&] {
    for (const std::size_t length : lengths_to_try()) {
      for (const std::size_t shift : {0, 1}) {
        if (length == 0) continue;
        std::vector<double> log_weights = given;
        std::vector<double> weights(length + shift + 1, -7);
        double effective_size = 0;
        const double log_sum =
            normalise_log_weights(std::span(log_weights).subspan(shift, length),
                                  std::span(weights).subspan(shift, length), &effective_size);

        long double sum = 0;
        for (std::size_t i = shift; i < length + shift; ++i) {
          sum += std::exp(static_cast<long double>(given[i]));
        }
        long double squares = 0;
        for (std::size_t i = shift; i < length + shift; ++i) {
          const long double weight = std::exp(static_cast<long double>(given[i])) / sum;
          squares += weight * weight;
          EXPECT_NEAR(weights[i], static_cast<double>(weight), 1e-13 * weights[i] + 1e-322);
          EXPECT_NEAR(log_weights[i], given[i] - log_sum, 1e-12);
        }
        EXPECT_NEAR(log_sum, static_cast<double>(std::log(sum)), 1e-13 * std::abs(log_sum));
        EXPECT_NEAR(effective_size, static_cast<double>(1 / squares), 1e-12 * effective_size);
        EXPECT_EQ(weights.back(), -7);
        EXPECT_EQ(log_weights[length + shift], given[length + shift]);
      }
    }
  });
}

TEST(LogWeights, MayBeFarFromZero) {
  under_each_instruction_set([] {
    for (const double shift : {-1e5, 1e5}) {
      std::vector<double> log_weights = {shift, shift + std::log(3.0)};
      std::vector<double> weights(2);
      EXPECT_NEAR(normalise_log_weights(log_weights, weights), shift + std::log(4.0), 1e-10);
      EXPECT_NEAR(weights[1], 0.75, 1e-10);
    }
  });
}

TEST(LogWeights, ThatAreNotFiniteCountForNothing) {
  under_each_instruction_set([] {
    std::vector<double> log_weights = {std::nan(""), 0, kInfinity};
    std::vector<double> weights(3);
    EXPECT_EQ(normalise_log_weights(log_weights, weights), 0);
    EXPECT_EQ(weights, (std::vector<double>{0, 1, 0}));
    for (std::size_t i = 0; i < 40; ++i) {
      log_weights.assign(40, -3);
      log_weights[i] = i % 2 == 0 ? std::nan("") : kInfinity;
      weights.assign(40, -7);
      EXPECT_NEAR(normalise_log_weights(log_weights, weights), std::log(39.0) - 3, 1e-15);
      EXPECT_EQ(weights[i], 0);
      EXPECT_EQ(log_weights[i], -kInfinity);
      EXPECT_EQ(std::count(weights.begin(), weights.end(), 0), 1);
    }
  });
}

TEST(LogWeights, WithoutAnyPositiveOneLeaveTheWeights) {
  under_each_instruction_set([] {
    std::vector<double> log_weights = {-kInfinity, std::nan("")};
    std::vector<double> weights = {0.25, 0.75};
    EXPECT_EQ(normalise_log_weights(log_weights, weights), -kInfinity);
    EXPECT_EQ(weights, (std::vector<double>{0.25, 0.75}));
    EXPECT_EQ(log_weights, (std::vector<double>{-kInfinity, -kInfinity}));
  });
}

}  // namespace
}  // namespace headwater
