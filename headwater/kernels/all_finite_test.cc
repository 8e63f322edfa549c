#include "headwater/kernels/all_finite.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

TEST(AllFinite, FindsWhatIsNoNumberWhereverItIs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      const auto rows = static_cast<Index>(n);
      Matrix values = 1e308 * Matrix::Random(rows + 1, 2);
      const auto block = values.bottomRows(rows);
      EXPECT_TRUE(all_finite(block));
      const Index stride = rows > 40 ? 37 : 1;
      for (Index i = 0; i < rows; i += stride) {
        for (const double bad : {kInfinity, -kInfinity, kInfinity - kInfinity}) {
          const double before = values(i + 1, 1);
          values(i + 1, 1) = bad;
          EXPECT_FALSE(all_finite(block));
          values(i + 1, 1) = before;
        }
      }
    }
  });
}

}  // namespace
}  // namespace headwater
