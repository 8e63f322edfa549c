#include "headwater/core/special.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace headwater {
namespace {

// The accuracy that the header states.
constexpr double kRelativeError = 1e-15;

// The value in extended precision, where long double is wider than double; its own error is then
// negligible.
double log_gamma_truth(double x) {
  return static_cast<double>(std::lgamma(static_cast<long double>(x)));
}

void expect_accurate(double x) {
  const double truth = log_gamma_truth(x);
  EXPECT_NEAR(log_gamma(x), truth, kRelativeError * std::abs(truth)) << "x = " << x;
}

// Computed with 30 digits.
TEST(LogGamma, AgreesWithHighPrecision) {
  struct Value {
    double x, log_gamma;
  };
  const std::vector<Value> values = {
      {1e-300, 690.77552789821371},   {1e-10, 23.025850929882735},
      {0.1, 2.2527126517342059},      {0.5, 0.57236494292470009},
      {0.9, 0.066376239734742954},    {1.0000001, -5.7721558299185071e-8},
      {1.1, -0.049872441259839762},   {1.4616321449683623, -0.12148629053584961},
      {1.9, -0.038984275923083362},   {2.0000001, 4.2278436665324979e-8},
      {2.5, 0.28468287047291916},     {3.3, 0.9870985778947344},
      {9.75, 12.242204940050763},     {10, 12.80182748008147},
      {11.5, 16.292000476567241},     {100.25, 360.28455963776423},
      {1e6, 12815504.569147612},      {1e20, 4.5051701859880914e21},
      {1e305, 7.0128845336318389e307}};
  for (const auto& [x, truth] : values) {
    EXPECT_NEAR(log_gamma(x), truth, kRelativeError * std::abs(truth)) << "x = " << x;
  }
}

TEST(LogGamma, IsAccurateFromTheSmallestToTheLargest) {
  for (double exponent = -1074; exponent < 1014; exponent += 0.173) {
    expect_accurate(std::exp2(exponent));
  }
}

TEST(LogGamma, IsAccurateAcrossTheJointsOfItsPieces) {
  for (double x = 0.001; x < 30; x += 0.00137) expect_accurate(x);
  for (const double joint : {0.5, 1.5, 2.5, 3.5, 9.5, 10.0}) {
    expect_accurate(std::nextafter(joint, 0));
    expect_accurate(joint);
    expect_accurate(std::nextafter(joint, 100));
  }
}

TEST(LogGamma, KeepsItsDigitsNearTheZeros) {
  EXPECT_EQ(log_gamma(1), 0);
  EXPECT_EQ(log_gamma(2), 0);
  for (const double zero : {1.0, 2.0}) {
    for (double distance = 0.5; distance > 1e-15; distance *= 0.83) {
      expect_accurate(zero - distance);
      expect_accurate(zero + distance);
    }
  }
}

TEST(LogGamma, HasTheLimitsOfTheFunctionAtTheEnds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(log_gamma(0), kInfinity);
  EXPECT_EQ(log_gamma(kInfinity), kInfinity);
  EXPECT_EQ(log_gamma(1e306), kInfinity);
  EXPECT_TRUE(std::isnan(log_gamma(-0.5)));
  EXPECT_TRUE(std::isnan(log_gamma(-2.5)));
  EXPECT_TRUE(std::isnan(log_gamma(std::numeric_limits<double>::quiet_NaN())));
}

TEST(LogFactorial, OfWholeNumbersIsLogGammaToTheBit) {
  for (double y = 0; y < 1000; ++y) EXPECT_EQ(log_factorial(y), log_gamma(y + 1)) << "y = " << y;
}

TEST(LogFactorial, OfSmallWholeNumbersIsTheLogOfTheProduct) {
  double product = 1;
  for (double y = 1; y <= 18; ++y) {
    product *= y;  // exact: 18! < 2^53
    EXPECT_NEAR(log_factorial(y), std::log(product), kRelativeError * std::log(product));
  }
  EXPECT_EQ(log_factorial(0), 0);
}

TEST(LogFactorial, TakesNumbersThatAreNotWhole) {
  for (const double y : {1e-12, 0.5, 2.25, 254.5, 255.5, 1e9 + 0.5}) {
    EXPECT_EQ(log_factorial(y), log_gamma(y + 1)) << "y = " << y;
  }
}

TEST(StirlingRemainder, CompletesStirlingsFormula) {
  const auto half_log_two_pi = std::log(2 * std::numbers::pi_v<long double>) / 2;
  for (double exponent = 0; exponent < 10; exponent += 0.037) {
    const auto x = static_cast<long double>(std::exp2(exponent));
    const auto truth = std::lgamma(x) - ((x - 0.5L) * std::log(x) - x + half_log_two_pi);
    EXPECT_NEAR(stirling_remainder(std::exp2(exponent)), static_cast<double>(truth), 1e-14);
  }
}

TEST(StirlingRemainder, VanishesLikeOneTwelfthOverX) {
  EXPECT_DOUBLE_EQ(stirling_remainder(1e12), 1 / 12e12);
  EXPECT_EQ(stirling_remainder(std::numeric_limits<double>::infinity()), 0);
}

}  // namespace
}  // namespace headwater
