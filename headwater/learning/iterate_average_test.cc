#include "headwater/learning/iterate_average.hpp"

#include <gtest/gtest.h>

namespace headwater {
namespace {

Vector one(double value) { return Vector::Constant(1, value); }

// The estimates 1, 2, 3, ...: a mean of those from `first` on to n is (first + n) / 2, which tells
// where the average begins.
TEST(IterateAverage, DropsBetweenASixteenthAndAnEighth) {
  IterateAverage average;
  for (int n = 1; n <= 5000; ++n) {
    average.add(one(n));
    const double first = 2 * average.mean()[0] - n;
    EXPECT_NEAR(first, std::round(first), 1e-9);
    if (n < 16) {
      EXPECT_LE(first, 2);
    } else {
      EXPECT_GT(first, n / 16.0);
      EXPECT_LE(first, n / 8.0);
    }
  }
}

TEST(IterateAverage, OfOneIsThatOne) {
  IterateAverage average;
  EXPECT_TRUE(average.empty());
  average.add(one(3));
  EXPECT_EQ(average.mean(), one(3));
}

}  // namespace
}  // namespace headwater
