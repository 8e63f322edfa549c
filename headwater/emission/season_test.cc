#include "headwater/season.hpp"

#include <gtest/gtest.h>

#include <random>

namespace headwater {
namespace {

Matrix positive_numbers(Index rows, Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(0.01, 5);
  return Matrix::NullaryExpr(rows, cols, [&] { return uniform(generator); });
}

TEST(SeasonProfiles, HaveMeanOne) {
  const Season season({positive_numbers(3, 7, 1)});
  const Vector means = season.profiles()[0].rowwise().mean();
  for (const double mean : means) EXPECT_NEAR(mean, 1, 1e-15);
}

// A profile that was scaled once and is scaled again, as when a model is read, keeps its bits. By
// division alone, one row in three or so would not.
TEST(SeasonProfiles, AreScaledOnce) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const Index period : {2, 6, 24, 168}) {
      const Season once({positive_numbers(4, period, seed)});
      Season again(once.profiles());
      EXPECT_EQ(again.profiles()[0], once.profiles()[0]) << seed << " " << period;
      again.set_profile(0, once.profiles()[0]);
      EXPECT_EQ(again.profiles()[0], once.profiles()[0]) << seed << " " << period;
    }
  }
}

}  // namespace
}  // namespace headwater
