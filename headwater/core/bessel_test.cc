#include "headwater/core/bessel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "headwater/core/test_numbers.hpp"

namespace headwater {
namespace {

constexpr double kError = 1e-11;

// The power series in extended precision, scaled so that it neither overflows nor underflows.
double log_bessel_truth(double order, double x) {
  const long double v = order;
  const long double w = static_cast<long double>(x) * x / 4;
  long double term = 1;
  long double sum = 1;
  for (long double k = 1; term > 1e-22L * sum; ++k) {
    term *= w / (k * (v + k));
    sum += term;
  }
  return static_cast<double>(v * std::log(static_cast<long double>(x) / 2) - std::lgamma(v + 1) +
                             std::log(sum));
}

const std::vector<double>& orders() {
  static const std::vector<double> values = {-0.999, -0.9, -0.5, -0.01, 0,    0.01, 0.5,
                                             1,      2.7,  10,   29.9,  30.1, 100,  1234.5};
  return values;
}

TEST(LogBesselI, AgreesWithTheSeriesInExtendedPrecision) {
  for (const double order : orders()) {
    for (double x = 1e-3; x < 5e3; x *= 1.17) {
      const double truth = log_bessel_truth(order, x);
      EXPECT_NEAR(log_bessel_i(order, x), truth, kError * (1 + std::abs(truth) / 100))
          << order << ' ' << x;
      EXPECT_NEAR(log_scaled_bessel_i(order, x), truth - x,
                  kError * (1 + std::abs(truth - x) / 100))
          << order << ' ' << x;
    }
  }
}

TEST(LogBesselI, AgreesWithTheStandardLibrary) {
  for (const double order : {0.0, 0.3, 1.0, 2.5, 7.0}) {
    for (double x = 0.1; x < 100; x *= 1.3) {
      EXPECT_NEAR(log_bessel_i(order, x), std::log(std::cyl_bessel_i(order, x)), 1e-10)
          << order << ' ' << x;
    }
  }
}

// I_(1/2) = sqrt(2 / (pi x)) sinh x and I_(-1/2) = sqrt(2 / (pi x)) cosh x.
TEST(LogBesselI, AgreesWithTheHyperbolicFunctions) {
  for (double x = 1e-6; x < 1e8; x *= 1.7) {
    const double factor = 0.5 * std::log(2 / (std::numbers::pi * x));
    const double e = std::exp(-2 * x);
    EXPECT_NEAR(log_scaled_bessel_i(0.5, x), factor + std::log(-std::expm1(-2 * x) / 2), kError);
    EXPECT_NEAR(log_scaled_bessel_i(-0.5, x), factor + std::log((1 + e) / 2), kError);
    EXPECT_NEAR(bessel_i_ratio(-0.5, x), std::tanh(x), kError * std::tanh(x));
  }
}

TEST(LogBesselI, GoesToItsLimits) {
  for (const double order : {0.0, 0.7, 3.0}) {
    // exp(-x) I_v(x) -> (2 pi x)^(-1/2) (1 - (4 v^2 - 1) / (8x))
    for (const double x : {1e8, 1e12, 1e100, 1e300}) {
      const double limit =
          -0.5 * (std::log(2 * std::numbers::pi) + std::log(x)) - (4 * order * order - 1) / (8 * x);
      EXPECT_NEAR(log_scaled_bessel_i(order, x), limit, kError * std::abs(limit));
    }
    // I_v(x) -> (x/2)^v / Γ(v + 1)
    for (const double x : {1e-8, 1e-100, 1e-308}) {
      const double limit = order * std::log(x / 2) - std::lgamma(order + 1);
      EXPECT_NEAR(log_bessel_i(order, x), limit, kError * (1 + std::abs(limit)));
      EXPECT_NEAR(bessel_i_ratio(order, x) / (x / (2 * (order + 1))), 1, kError);
    }
  }
  EXPECT_NEAR(log_bessel_i(100, 1e-308) / (100 * std::log(0.5e-308) - std::lgamma(101)), 1, 1e-14);
}

TEST(LogBesselI, IsOneWhereTheTwoExpansionsMeet) {
  for (const double order : {-0.9, 0.0, 3.0, 15.0, 29.0}) {
    const double x = std::sqrt(900 - order * order);
    EXPECT_NEAR(log_bessel_i(order, x * (1 - 1e-14)), log_bessel_i(order, x * (1 + 1e-14)), kError);
  }
}

TEST(LogBesselI, HoldsAtTheEnds) {
  EXPECT_EQ(log_bessel_i(0, 0), 0);
  EXPECT_EQ(log_bessel_i(1, 0), -kInfinity);
  EXPECT_EQ(log_bessel_i(-0.5, 0), kInfinity);
  EXPECT_EQ(bessel_i_ratio(0, 0), 0);
  EXPECT_TRUE(std::isnan(log_bessel_i(-1, 1)));
  EXPECT_TRUE(std::isnan(log_scaled_bessel_i(0, -1)));
  EXPECT_TRUE(std::isnan(bessel_i_ratio(0, std::nan(""))));
}

// I_(v-1) - I_(v+1) = (2v / x) I_v, divided by I_v.
TEST(BesselIRatio, ObeysTheRecurrence) {
  for (const double order : {0.001, 0.1, 1.0, 5.5, 28.0, 200.0, 1000.0}) {
    for (double x = 1e-3; x < 1e7; x *= 1.31) {
      const double before = 1 / bessel_i_ratio(order - 1, x);
      const double after = bessel_i_ratio(order, x);
      EXPECT_NEAR(before - after, 2 * order / x, kError * (before + after)) << order << ' ' << x;
    }
  }
}

TEST(BesselIRatio, IsTheRatio) {
  for (const double order : orders()) {
    for (double x = 1e-3; x < 5e3; x *= 1.37) {
      const double truth = std::exp(log_bessel_truth(order + 1, x) - log_bessel_truth(order, x));
      EXPECT_NEAR(bessel_i_ratio(order, x) / truth, 1, kError) << order << ' ' << x;
    }
  }
}

}  // namespace
}  // namespace headwater
