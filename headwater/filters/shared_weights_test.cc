#include "headwater/filters/shared_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/core/infinity.hpp"
#include "headwater/kernels/log_weights.hpp"
#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

const std::vector<std::size_t> kSizes = {1, 1000, 2048, 2049, 4096, 10'001};

std::vector<double> log_weights_of(std::size_t size) {
  Generator generator = RandomStream(91).at(0, 0, Purpose::basis);
  std::vector<double> log_weights(size);
  for (double& log_weight : log_weights) {
    log_weight = generator.uniform() < 0.1 ? kMinusInfinity : 40 * generator.uniform() - 300;
  }
  log_weights[size / 2] = -280;
  return log_weights;
}

struct Normalised {
  double log_sum;
  std::vector<double> log_weights;
  std::vector<double> weights;
  double effective_size;
  bool operator==(const Normalised&) const = default;
};

Normalised normalised(std::size_t size, int num_threads) {
  const ThreadPool pool(num_threads);
  SharedWeights shared;
  Normalised result{0, log_weights_of(size), std::vector<double>(size), 0};
  result.log_sum = shared.normalise(pool, result.log_weights, result.weights);
  result.effective_size = shared.effective_size(pool, result.weights);
  return result;
}

TEST(SharedWeights, AreThoseOfOnePass) {
  under_each_instruction_set([] {
    for (const std::size_t size : kSizes) {
      std::vector<double> log_weights = log_weights_of(size);
      std::vector<double> weights(size);
      double effective_size = 0;
      const double log_sum = normalise_log_weights(log_weights, weights, &effective_size);
      const Normalised shared = normalised(size, 2);
      EXPECT_NEAR(shared.log_sum, log_sum, 1e-12);
      EXPECT_NEAR(shared.effective_size, effective_size, 1e-11 * effective_size);
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_NEAR(shared.weights[i], weights[i], 1e-13 * weights[i]);
        if (std::isfinite(log_weights[i])) {
          EXPECT_NEAR(shared.log_weights[i], log_weights[i], 1e-12);
        } else {
          EXPECT_EQ(shared.log_weights[i], kMinusInfinity);
        }
      }
      // What is one part is that very pass.
      if (size <= static_cast<std::size_t>(kWeightsInAPart)) {
        EXPECT_EQ(shared.weights, weights);
      }
    }
  });
}

TEST(SharedWeights, HaveTheSameBitsWhateverTheThreads) {
  for (const std::size_t size : kSizes) {
    const Normalised expected = normalised(size, 1);
    for (const int num_threads : {2, 3, 8}) EXPECT_EQ(normalised(size, num_threads), expected);
  }
}

TEST(SharedWeights, AreLeftIfNoneIsPositive) {
  const ThreadPool pool(2);
  SharedWeights shared;
  std::vector<double> log_weights(5000, kMinusInfinity);
  log_weights[3000] = std::nan("");
  std::vector<double> weights(5000, 7);
  EXPECT_EQ(shared.normalise(pool, log_weights, weights), kMinusInfinity);
  EXPECT_EQ(log_weights, std::vector<double>(5000, kMinusInfinity));
  EXPECT_EQ(weights, std::vector<double>(5000, 7));
}

}  // namespace
}  // namespace headwater
