#include "headwater/step_size.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/error.hpp"

namespace headwater {
namespace {

TEST(StepSize, PowersOfTime) {
  const StepSize step = StepSize::power(0.8);
  EXPECT_EQ(step(1), 1);
  EXPECT_DOUBLE_EQ(step(100), std::pow(100.0, -0.8));
}

// The first observation initialises the averages, so its weight must be 1 (erratum E7).
TEST(StepSize, TheFirstIsAlwaysOne) {
  EXPECT_EQ(StepSize::power(0.6)(1), 1);
  EXPECT_EQ(StepSize::constant(0.01)(1), 1);
}

TEST(StepSize, ConstantIsReachedFromAbove) {
  const StepSize step = StepSize::constant(0.05);
  EXPECT_DOUBLE_EQ(step(10), std::pow(10.0, -0.6));
  EXPECT_EQ(step(1000), 0.05);
  EXPECT_EQ(step(1000000), 0.05);
}

TEST(StepSize, AnEvenBeginningWeighsAllOfItsObservationsTheSame) {
  const StepSize step = StepSize::automatic().with_even_beginning(50);
  double mean = 0;
  for (int t = 1; t <= 50; ++t) mean += step(t) * (t - mean);
  EXPECT_NEAR(mean, 25.5, 1e-12);
  EXPECT_EQ(step(51), StepSize::power(0.6)(51));
}

TEST(StepSize, ReadsWhatItWrites) {
  for (const char* text : {"auto", "power:0.6", "power:1", "constant:0.01"}) {
    EXPECT_EQ(StepSize::parse(text).text(), text);
  }
}

// E16: sum of steps infinite, sum of squares finite needs an exponent in (0.5, 1].
TEST(StepSize, RefusesWhatDoesNotConverge) {
  for (const char* text : {"power:0.5", "power:1.1", "power:nan", "constant:0", "constant:1",
                           "constant:-1", "power", "power:", "power:x", "0.6", "", "linear:1"}) {
    EXPECT_THROW(StepSize::parse(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace headwater
