#include "headwater/learning/iterate_average.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headwater {
namespace {

Vector one(double value) { return Vector::Constant(1, value); }

// `observations` may be 0 where it does not matter: each counts for one at least.
void add(const Vector& value, IterateAverage& average, std::int64_t observations = 0) {
  const std::span<const double> parts[] = {as_span(value)};
  average.add(parts, observations);
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
  average.add(parts, 1);
  EXPECT_EQ(average.mean(), (Vector{{1, 2, 3, 4, 5}}));
}

// Blocks of 1 to 64 observations: the mean is that of the latest vectors, each weighted by its
// block, which together have the part that part() says: between 7/8 and 15/16, give or take a
// block.
TEST(IterateAverage, VectorsCountForTheirObservations) {
  IterateAverage average;
  std::vector<double> values;
  std::vector<double> weights;
  double all = 0;
  for (std::int64_t t = 100, block = 1; t < 20'000; t += block) {
    values.push_back(std::sin(static_cast<double>(t)));
    weights.push_back(static_cast<double>(block));
    all += weights.back();
    add(one(values.back()), average, t);
    block = std::clamp<std::int64_t>(t / 32, 1, 64);

    double weight = 0;
    double sum = 0;
    std::size_t i = values.size();
    while (weight < average.part() * all - 0.5) {
      --i;
      weight += weights[i];
      sum += weights[i] * values[i];
    }
    EXPECT_NEAR(weight, average.part() * all, 1e-6) << t;
    EXPECT_NEAR(average.mean()[0], sum / weight, 1e-12) << t;
    EXPECT_GE(all - weight, all / 16 - 64) << t;
    EXPECT_LE(all - weight, all / 8 + 64) << t;
  }
}

TEST(IterateAverage, CanBeginAnewAtOneValue) {
  IterateAverage average;
  for (int i = 0; i < 100; ++i) add(one(i), average, 7 * i);
  const double part = average.part();
  const Vector value{{3, 5}};
  const std::span<const double> parts[] = {as_span(value)};
  average.set_all(parts);
  EXPECT_EQ(average.mean(), value);
  EXPECT_EQ(average.part(), part);
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
