#include "headwater/emission/count_tails.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/emission/poisson.hpp"

namespace headwater {
namespace {

double log_mass(double y, double mean, double phi) {
  if (phi == 0) return Poisson().log_density(0, y, mean);
  return NegativeBinomial(Vector::Constant(1, phi)).log_density(0, y, mean);
}

// By adding up every probability.
TEST(CountTails, AreSumsOfProbabilities) {
  for (const double phi : {0.0, 0.01, 0.5, 3.0}) {
    for (const double mean : {0.01, 0.7, 6.0, 90.0}) {
      for (const double y : {0.0, 1.0, 2.0, 7.0, 60.0, 200.0}) {
        double below = 0;
        double above = 0;
        for (double k = 0; k < y; ++k) below += std::exp(log_mass(k, mean, phi));
        for (double k = y + 1; k < y + 20000; ++k) {
          const double mass = std::exp(log_mass(k, mean, phi));
          above += mass;
          if (k > mean && mass < 1e-18 * above) break;
        }
        const CountTails tails = negative_binomial_tails(y, mean, phi);
        EXPECT_NEAR(tails.at, std::exp(log_mass(y, mean, phi)), 1e-9 * tails.at);
        EXPECT_NEAR(tails.below, below, 1e-9 * (y > mean ? 1 : below)) << y << " " << mean;
        EXPECT_NEAR(tails.above, above, 1e-9 * (y > mean ? above : 1)) << y << " " << mean;
      }
    }
  }
}

// At the border the two ways agree.
TEST(CountTails, OfLargeCountsGoOn) {
  for (const double phi : {0.0, 0.1}) {
    const CountTails sums = negative_binomial_tails(5100, 4900, phi);
    const CountTails gammas = negative_binomial_tails(5100, 4900.1, phi);
    EXPECT_EQ(gammas.at, 0);
    EXPECT_NEAR((sums.above + sums.at / 2) / gammas.above, 1, 0.01) << phi;
  }
}

// 20,000 terms and the rest of a geometric series, compared with every term.
TEST(CountTails, OfAVeryDispersedCount) {
  double above = 0;
  for (double k = 51; k < 4e5; ++k) above += std::exp(log_mass(k, 20, 100.0));
  EXPECT_NEAR(negative_binomial_tails(50, 20, 100).above / above, 1, 1e-3);
}

TEST(CountTails, OfWhatCannotBe) {
  EXPECT_EQ(negative_binomial_tails(3, 0, 0.5).above, 0);
  EXPECT_EQ(negative_binomial_tails(3, 0, 0.5).two_sided(), 0);
  EXPECT_EQ(negative_binomial_tails(0, 0, 0).two_sided(), 1);
}

TEST(CountTails, ACountBetweenWholeNumbersCutsOneInTwo) {
  const CountTails whole = negative_binomial_tails(3, 2.5, 0.2);
  const CountTails part = negative_binomial_tails(3.25, 2.5, 0.2);
  EXPECT_DOUBLE_EQ(part.below, whole.below + whole.at / 4);
  EXPECT_EQ(part.at, 0);
  EXPECT_NEAR(part.below + part.above, 1, 1e-12);
}

TEST(CountTails, ALawThatIsNoCountIsNormal) {
  const CountTails tails = tails_by_variance({.constant = 4}, 3, 1);
  EXPECT_NEAR(tails.above, 0.15865525393145707, 1e-12);
  EXPECT_EQ(tails_by_variance({.linear = 1, .quadratic = 0.3}, 4, 2).above,
            negative_binomial_tails(4, 2, 0.3).above);
}

}  // namespace
}  // namespace headwater
