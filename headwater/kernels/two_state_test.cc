#include "headwater/kernels/two_state.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

struct Shape {
  Index outer;
  Index inner;
};

std::vector<Shape> shapes() {
  std::vector<Shape> shapes;
  for (Index inner = 1; inner <= 35; ++inner) {
    for (const Index outer : {0, 1, 2, 3, 5, 8}) shapes.push_back({outer, inner});
  }
  shapes.push_back({512, 1});
  shapes.push_back({1, 512});
  return shapes;
}

TEST(TwoState, ButterflyIsAProductWithEveryPair) {
  const std::array<double, 4> m = {0.9, 0.3, 0.1, 0.7};
  under_each_instruction_set([&] {
    for (const auto& [outer, inner] : shapes()) {
      const Vector before = Vector::Random(2 * outer * inner + 2);
      Vector values = before;
      apply_two_state(m, values.data() + 1, outer, inner);
      Vector expected = before;
      for (Index o = 0; o < outer; ++o) {
        for (Index i = 0; i < inner; ++i) {
          const Index off = 1 + 2 * o * inner + i;
          const Index on = off + inner;
          expected[off] = m[0] * before[off] + m[1] * before[on];
          expected[on] = m[2] * before[off] + m[3] * before[on];
        }
      }
      EXPECT_LT((values - expected).cwiseAbs().maxCoeff(), 3e-16) << outer << " x " << inner;
      EXPECT_EQ(values[0], before[0]);
      EXPECT_EQ(values[values.size() - 1], before[before.size() - 1]);
    }
  });
}

TEST(TwoState, ProductsAreSumsOverAllPairs) {
  under_each_instruction_set([] {
    for (const auto& [outer, inner] : shapes()) {
      const Vector law = Vector::Random(2 * outer * inner + 2);
      const Vector values = Vector::Random(2 * outer * inner + 2);
      std::array<double, 4> expected = {0, 0, 0, 0};
      std::array<double, 4> sizes = {0, 0, 0, 0};
      for (Index o = 0; o < outer; ++o) {
        for (Index i = 0; i < inner; ++i) {
          for (Index s = 0; s < 4; ++s) {
            const Index off = 1 + 2 * o * inner + i;
            const double term = law[off + s / 2 * inner] * values[off + s % 2 * inner];
            expected[s] += term;
            sizes[s] += std::abs(term);
          }
        }
      }
      const std::array<double, 4> sums =
          two_state_products(law.data() + 1, values.data() + 1, outer, inner);
      // A sum of n rounded products, in any order, is off by at most n 2^-53 times the sum of their
      // sizes; both sums may be.
      const double rounding = 0x1p-52 * static_cast<double>(outer * inner);
      for (Index s = 0; s < 4; ++s) EXPECT_NEAR(sums[s], expected[s], rounding * sizes[s]);
    }
  });
}

}  // namespace
}  // namespace headwater
