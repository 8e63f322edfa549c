#include "headwater/kernels/gather.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

TEST(GatherRows, TakesThoseThatAreNamed) {
  for (const std::size_t length : lengths_to_try()) {
    for (const Index columns : {0, 1, 5}) {
      const Matrix larger = Matrix::Random(60, columns);
      const auto in = larger.middleRows(1, 50);
      std::vector<std::int32_t> rows;
      for (std::size_t i = 0; i < length; ++i) {
        rows.push_back(static_cast<std::int32_t>(i * i % 50));
      }
      const auto n = static_cast<Index>(length);
      Matrix out = Matrix::Constant(n + 2, columns, -7);
      gather_rows(in, rows, out.middleRows(1, n));
      for (Index k = 0; k < columns; ++k) {
        for (Index i = 0; i < n; ++i) ASSERT_EQ(out(i + 1, k), in(rows[i], k));
        EXPECT_EQ(out(0, k), -7);
        EXPECT_EQ(out(n + 1, k), -7);
      }
    }
  }
}

}  // namespace
}  // namespace headwater
