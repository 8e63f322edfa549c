#include "headwater/learning/iterate_average.hpp"

#include <gtest/gtest.h>

namespace headwater {
namespace {

Vector one(double value) { return Vector::Constant(1, value); }

void add(const Vector& value, IterateAverage& average) {
  const std::span<const double> parts[] = {as_span(value)};
  average.add(parts);
}

// The estimates 1, 2, 3, ...: a mean of those from `first` on to n is (first + n) / 2, which tells
// where the average begins.
TEST(IterateAverage, DropsBetweenASixteenthAndAnEighth) {
  IterateAverage average;
  for (int n = 1; n <= 5000; ++n) {
    add(one(n), average);
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
  add(one(3), average);
  EXPECT_EQ(average.mean(), one(3));
}

TEST(IterateAverage, PutsPartsOneAfterAnother) {
  const Vector first{{1, 2}};
  const Vector second{{3, 4, 5}};
  IterateAverage average;
  const std::span<const double> parts[] = {as_span(first), {}, as_span(second)};
  average.add(parts);
  EXPECT_EQ(average.mean(), (Vector{{1, 2, 3, 4, 5}}));
}

// As Statistics does when a cell is missing for the first time.
TEST(IterateAverage, TakesWhatIsNewForZeroBefore) {
  IterateAverage average;
  add(Vector{{1}}, average);
  add(Vector{{3, 4}}, average);
  add(Vector{{5, 8}}, average);
  EXPECT_EQ(average.mean(), (Vector{{3, 4}}));
}

}  // namespace
}  // namespace headwater
