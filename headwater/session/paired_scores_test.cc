#include "headwater/session/paired_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

Generator generator_of(std::uint64_t seed) {
  return RandomStream(seed).at(0, 0, Purpose::surprise);
}

// Two series whose difference is a stationary chain d' = rho d + e, with standard normal e, around
// a mean.
struct Chain {
  double rho = 0;
  double mean = 0;
  double now = 0;

  double next(Generator& generator) {
    now = rho * now + normal(generator);
    return mean + now;
  }
};

// 70 observations are 35 batches of two: the means of these, added up the long way.
TEST(PairedScores, AreTheMeansOfBatches) {
  Generator generator = generator_of(3);
  PairedScores scores(2);
  std::vector<double> differences;
  double total = 0;
  for (int t = 0; t < 70; ++t) {
    const double a = normal(generator);
    const double b = normal(generator);
    scores.add(std::vector{a, b});
    differences.push_back(a - b);
    total += a;
  }
  double mean = 0;
  double squares = 0;
  for (int i = 0; i < 35; ++i) mean += (differences[2 * i] + differences[2 * i + 1]) / 70;
  for (int i = 0; i < 35; ++i) {
    const double away = (differences[2 * i] + differences[2 * i + 1]) / 2 - mean;
    squares += away * away;
  }
  EXPECT_EQ(scores.observations(), 70);
  EXPECT_NEAR(scores.mean(0), total / 70, 1e-14);
  EXPECT_NEAR(scores.difference(0, 1).mean, mean, 1e-14);
  EXPECT_NEAR(scores.difference(0, 1).standard_error, std::sqrt(squares / (35 * 34)), 1e-14);
}

// The variance of the mean of n values of such a chain is 1 / (n (1 - rho)^2) for large n. Batches
// number 32 to 63, so (batches - 1) s^2 / variance is chi-square with at least 31 degrees; the sum
// over 100 chains of 40 degrees each (40,960 = 40 batches of 1,024) has 3,900 degrees. Its two
// bounds are exceeded with probability 1e-6 together by independent batches; batches of 1,024 have
// a correlation below rho / (1,024 (1 - rho)^2) < .08, so the lower bound is given that much room.
TEST(PairedScores, KnowThatNeighboursAreCorrelated) {
  constexpr double kRho = 0.9;
  constexpr int kSteps = 40'960;
  double sum = 0;
  for (int chain = 0; chain < 100; ++chain) {
    Generator generator = generator_of(100 + chain);
    PairedScores scores(2);
    Chain difference{kRho};
    for (int t = 0; t < kSteps; ++t) scores.add(std::vector{difference.next(generator), 0.0});
    const double error = scores.difference(0, 1).standard_error;
    sum += 39 * error * error * kSteps * (1 - kRho) * (1 - kRho);
  }
  const double upper = reference::chi_square_critical(3900, 5e-7);
  EXPECT_LT(sum, upper);
  EXPECT_GT(sum, (3900 - (upper - 3900)) * (1 - 0.08));
}

TEST(PairedScores, TheFirstWithinOneStandardErrorIsAsGood) {
  PairedScores scores(3);
  // Differences to the last one: -1 +- 1 and -.01 +- 1, in pairs of the same sign. Of 64 of them,
  // 32 batches, the standard error is 1 / sqrt(31).
  for (int t = 0; t < 63; ++t) {
    const double noise = t % 4 < 2 ? 1 : -1;
    scores.add(std::vector{-1 + noise, -0.01 + noise, 0.0});
  }
  EXPECT_EQ(scores.best(), 1);  // by the one noise that is left over
  EXPECT_EQ(scores.first_as_good_as_best(), 1);
  scores.add(std::vector{-2.0, -1.01, 0.0});
  EXPECT_EQ(scores.best(), 2);
  EXPECT_NEAR(scores.difference(1, 2).standard_error, 1 / std::sqrt(31.0), 1e-14);
  EXPECT_EQ(scores.first_as_good_as_best(), 1);
}

TEST(PairedScores, TheFirstWithinTheMarginIsAsGood) {
  PairedScores scores(3);
  // Differences to the last one: -.5 and -.01, all but certain.
  for (int t = 0; t < 64; ++t) scores.add(std::vector{-0.5, -0.01, t % 2 * 1e-6});
  EXPECT_EQ(scores.first_as_good_as_best(), 2);
  EXPECT_EQ(scores.first_as_good_as_best(0.009), 2);
  EXPECT_EQ(scores.first_as_good_as_best(0.011), 1);
  EXPECT_EQ(scores.first_as_good_as_best(0.6), 0);
}

TEST(PairedScores, AnImpossibleObservationIsLeftOutForAll) {
  PairedScores scores(2);
  scores.add(std::vector{-1.0, -2.0});
  scores.add(std::vector{-kInfinity, -2.0});
  EXPECT_EQ(scores.observations(), 1);
  EXPECT_EQ(scores.left_out(), 1);
  EXPECT_EQ(scores.mean(1), -2);
}

TEST(PairedScores, FewObservationsHaveNoStandardError) {
  PairedScores scores(2);
  for (int t = 0; t < 7; ++t) scores.add(std::vector{-1.0 * t, -2.0});
  EXPECT_EQ(scores.difference(0, 1).standard_error, kInfinity);
  EXPECT_EQ(scores.difference(0, 0).standard_error, 0);
}

TEST(PairedScores, GoOnFromASavedState) {
  Generator generator = generator_of(5);
  PairedScores whole(2);
  PairedScores half(2);
  for (int t = 0; t < 1000; ++t) {
    const std::vector<double> values = {normal(generator), normal(generator)};
    whole.add(values);
    half.add(values);
    if (t != 333) continue;
    StateArchive out;
    out(half);
    StateArchive in(out.bytes());
    half = PairedScores(2);
    in(half);
  }
  EXPECT_EQ(half.mean(0), whole.mean(0));
  EXPECT_EQ(half.difference(0, 1).standard_error, whole.difference(0, 1).standard_error);
}

}  // namespace
}  // namespace headwater
