#include "headwater/kernels/ancestors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "headwater/filters/resampling.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

std::vector<double> random_weights(std::size_t size, double power, Generator& generator) {
  std::vector<double> weights(size);
  for (double& weight : weights) {
    weight = std::pow(generator.uniform(), power);
    if (generator.uniform() < 0.2) weight = 0;
  }
  weights[size / 2] = 1;
  return weights;
}

double sum_of(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

// The definition, computed by a walk along the cumulative weights. It may differ from the kernel if
// a point lies within rounding of a cumulative weight; of a thousand points one does with
// probability of about 1e-10.
std::vector<std::int32_t> by_walking(const std::vector<double>& weights, std::size_t num_points,
                                     double offset) {
  QuantileWalk walk(weights.size(), [&](std::size_t i) { return weights[i]; });
  const double sum = sum_of(weights);
  const auto n = static_cast<double>(num_points);
  std::vector<std::int32_t> ancestors;
  for (std::size_t i = 0; i < num_points; ++i) {
    ancestors.push_back(walk.at((static_cast<double>(i) + offset) / n * sum));
  }
  return ancestors;
}

std::vector<std::int32_t> systematic(const std::vector<double>& weights, std::size_t n,
                                     double offset) {
  std::vector<std::int32_t> ancestors(n, -1);
  systematic_ancestors(weights, sum_of(weights), offset, ancestors);
  return ancestors;
}

TEST(Ancestors, AreThoseOfAWalkUpTheWeights) {
  Generator generator = RandomStream(75).at(0, 0, Purpose::basis);
  for (const std::size_t size : {1, 2, 3, 7, 100, 1000}) {
    for (const std::size_t n : {1, 2, 3, 4, 5, 8, 100, 1000, 5000}) {
      for (const double power : {0.0, 1.0, 30.0}) {
        const std::vector<double> weights = random_weights(size, power, generator);
        const double offset = generator.uniform();
        EXPECT_EQ(systematic(weights, n, offset), by_walking(weights, n, offset));
      }
    }
  }
}

TEST(Ancestors, AreTheSameInParts) {
  Generator generator = RandomStream(77).at(0, 0, Purpose::basis);
  for (const std::size_t n : {1, 7, 100, 3000}) {
    for (const std::size_t size_of_part : {1, 3, 64, 1000}) {
      for (const double power : {0.0, 1.0, 30.0}) {
        const std::vector<double> weights = random_weights(1000, power, generator);
        const double offset = generator.uniform();
        const SystematicPoints points(n, sum_of(weights), offset);
        std::vector<std::int32_t> ancestors(n, -1);
        // From the last part on, so that a part which wrote beyond its end would be seen.
        std::vector<std::span<const double>> parts;
        for (std::size_t first = 0; first < weights.size(); first += size_of_part) {
          parts.push_back(
              std::span(weights).subspan(first, std::min(size_of_part, weights.size() - first)));
        }
        std::int64_t end = points.sum_of(weights);
        points.choose_rest(weights, points.num_below(end), ancestors);
        for (std::size_t p = parts.size(); p-- > 0;) {
          const std::int64_t begin = end - points.sum_of(parts[p]);
          const std::size_t done =
              points.choose(parts[p], static_cast<std::int32_t>(p * size_of_part), begin,
                            std::span(ancestors).first(points.num_below(end)));
          EXPECT_EQ(done, points.num_below(end));
          end = begin;
        }
        EXPECT_EQ(ancestors, systematic(weights, n, offset));
      }
    }
  }
}

// A point that equals a cumulative weight belongs to the next index.
TEST(Ancestors, OfPointsOnASum) {
  EXPECT_EQ(systematic({1, 1, 1, 1}, 4, 0), (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(systematic({0, 2, 0, 1, 1, 0}, 4, 0), (std::vector<std::int32_t>{1, 1, 3, 4}));
  EXPECT_EQ(systematic({0, 0, 1}, 3, 0), (std::vector<std::int32_t>{2, 2, 2}));
  EXPECT_EQ(systematic({1, 0, 0}, 3, 1 - 0x1p-53), (std::vector<std::int32_t>{0, 0, 0}));
}

TEST(Ancestors, AreNeverOfWeightZeroNorBeyondTheLast) {
  Generator generator = RandomStream(76).at(0, 0, Purpose::basis);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> weights = random_weights(300, 3, generator);
    for (std::size_t i = 0; i < 20; ++i) weights[weights.size() - 1 - i] = weights[i] = 0;
    for (const double offset : {0.0, 0x1p-53, generator.uniform(), 1 - 0x1p-53}) {
      const std::vector<std::int32_t> ancestors = systematic(weights, 777, offset);
      EXPECT_TRUE(std::is_sorted(ancestors.begin(), ancestors.end()));
      for (const std::int32_t ancestor : ancestors) ASSERT_GT(weights[ancestor], 0);
    }
  }
}

// If the given sum is too large, the last points lie beyond all cumulative weights.
TEST(Ancestors, BeyondTheSumAreTheLastOfPositiveWeight) {
  const std::vector<double> weights = {0, 1, 2, 0};
  std::vector<std::int32_t> ancestors(4, -1);
  systematic_ancestors(weights, 3.5, 0.9, ancestors);
  EXPECT_EQ(ancestors, (std::vector<std::int32_t>{1, 2, 2, 2}));
}

TEST(Ancestors, DoNotDependOnTheScaleOfWeights) {
  Generator generator = RandomStream(77).at(0, 0, Purpose::basis);
  const std::vector<double> weights = random_weights(100, 2, generator);
  const std::vector<std::int32_t> ancestors = systematic(weights, 150, 0.3);
  for (const double scale : {0x1p-1000, 0x1p-500, 0x1p500, 0x1p1000}) {
    std::vector<double> scaled = weights;
    for (double& weight : scaled) weight *= scale;
    EXPECT_EQ(systematic(scaled, 150, 0.3), ancestors) << scale;
  }
  EXPECT_EQ(systematic({0, 5e-324, 5e-324}, 2, 0.5), (std::vector<std::int32_t>{1, 2}));
}

// Every index has floor(n w) or ceil(n w) copies, for the largest number of particles.
TEST(Ancestors, OfVeryManyParticlesHaveTheirShares) {
  constexpr std::size_t kMany = std::size_t{1} << 22;
  std::vector<double> weights(kMany);
  for (std::size_t i = 0; i < kMany; ++i) weights[i] = static_cast<double>(i % 4);
  const std::vector<std::int32_t> ancestors = systematic(weights, kMany, 0.37);
  std::vector<int> copies(kMany);
  for (const std::int32_t ancestor : ancestors) ++copies[ancestor];
  for (std::size_t i = 0; i < kMany; ++i) {
    const double expected = static_cast<double>(i % 4) / 1.5;
    ASSERT_LT(std::abs(copies[i] - expected), 1);
  }
}

}  // namespace
}  // namespace headwater
