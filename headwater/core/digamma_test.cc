#include "headwater/core/digamma.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "headwater/core/special.hpp"

namespace headwater {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(Digamma, HasItsKnownValues) {
  EXPECT_NEAR(digamma(1), -std::numbers::egamma, 1e-14);
  EXPECT_NEAR(digamma(0.5), -std::numbers::egamma - 2 * std::numbers::ln2, 1e-14);
  EXPECT_NEAR(digamma(10), 7129.0 / 2520 - std::numbers::egamma, 1e-14);
  EXPECT_NEAR(digamma(1.4616321449683623), 0, 1e-14);
  EXPECT_NEAR(trigamma(1), kPi * kPi / 6, 1e-14);
  EXPECT_NEAR(trigamma(0.5), kPi * kPi / 2, 5e-14);
}

TEST(Digamma, ObeysTheRecurrenceAndReflection) {
  for (double x = 1e-3; x < 40; x *= 1.07) {
    const double scale = 1 + 1 / x;
    EXPECT_NEAR(digamma(x + 1) - digamma(x), 1 / x, 2e-14 * scale) << x;
    EXPECT_NEAR(trigamma(x) - trigamma(x + 1), 1 / (x * x), 2e-14 * scale * scale) << x;
  }
  for (double x = 0.01; x <= 0.5; x += 0.013) {
    const double sine = std::sin(kPi * x);
    EXPECT_NEAR(digamma(1 - x) - digamma(x), kPi / std::tan(kPi * x), 1e-13 / sine) << x;
    EXPECT_NEAR(trigamma(1 - x) + trigamma(x), kPi * kPi / (sine * sine), 1e-13 / (sine * sine));
  }
}

TEST(Digamma, IsTheDerivativeOfLogGamma) {
  for (double x = 0.05; x < 1e3; x *= 1.3) {
    const double h = 1e-4 * x;
    const double slope = (log_gamma(x + h) - log_gamma(x - h)) / (2 * h);
    EXPECT_NEAR(digamma(x), slope, 1e-7 * (1 + 1 / x + std::log(1 + x))) << x;
    const double bend = (digamma(x + h) - digamma(x - h)) / (2 * h);
    EXPECT_NEAR(trigamma(x) / bend, 1, 1e-7) << x;
  }
}

TEST(Digamma, HoldsAtTheEnds) {
  EXPECT_EQ(digamma(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(trigamma(0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(digamma(-1)));
  EXPECT_TRUE(std::isnan(trigamma(-1)));
  EXPECT_NEAR(digamma(1e300), std::log(1e300), 1e-12);
  EXPECT_NEAR(trigamma(1e300) * 1e300, 1, 1e-14);
  EXPECT_NEAR(digamma(1e-300) * 1e-300, -1, 1e-14);
}

}  // namespace
}  // namespace headwater
