#include "headwater/core/tails.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

TEST(Tails, OfTheGammaLawAreTheReferences) {
  for (const double shape : {0.01, 0.3, 1.0, 2.5, 9.0, 11.0, 80.0, 500.0}) {
    for (const double part : {0.01, 0.3, 0.9, 1.0, 1.1, 2.0, 5.0}) {
      const double right = reference::gamma_tail(shape, part * shape);
      EXPECT_NEAR(gamma_tail(shape, part * shape), right, 1e-9 * right + 1e-300) << shape << part;
    }
  }
  EXPECT_EQ(gamma_tail(2, 0), 1);
  EXPECT_EQ(gamma_tail(2, -1), 1);
}

// A gamma variable of shape 1e6 is normal, up to a skewness of 2e-3.
TEST(Tails, OfAHugeShapeGoOn) {
  for (const double z : {-3.0, 0.0, 3.0}) {
    EXPECT_NEAR(gamma_tail(1e6, 1e6 + z * 1e3) / gamma_tail(0.999999e6, 0.999999e6 + z * 1e3), 1,
                2e-4);
  }
}

TEST(Tails, NormalQuantilesAreThoseOfTheNormalLaw) {
  for (const double p : {1e-300, 1e-100, 1e-10, 1e-3, 0.02, 0.03, 0.4, 0.5, 0.9, 0.97, 0.99}) {
    const double z = normal_quantile(p);
    EXPECT_NEAR(normal_tail(-z) / p, 1, 1e-6) << p;
  }
}

}  // namespace
}  // namespace headwater
