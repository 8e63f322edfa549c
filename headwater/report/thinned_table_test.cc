#include "headwater/report/thinned_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headwater/core/test_numbers.hpp"

namespace headwater {
namespace {

// Some numbers that follow no order.
double value_at(std::int64_t t) { return std::sin(1e3 * static_cast<double>(t * t)); }

TEST(ThinnedTable, KeepsAllRowsWhileThereIsRoom) {
  ThinnedTable table(2, 4);
  for (int t = 0; t < 4; ++t) table.add(std::array{value_at(t), kMissing}, 10.0 + t);
  ASSERT_EQ(table.num_buckets(), 4);
  EXPECT_EQ(table.rows_a_bucket(), 1);
  for (int t = 0; t < 4; ++t) {
    EXPECT_EQ(table.mean(t, 0), value_at(t));
    EXPECT_EQ(table.least(t, 0), value_at(t));
    EXPECT_EQ(table.largest(t, 0), value_at(t));
    EXPECT_TRUE(std::isnan(table.mean(t, 1)));
    EXPECT_TRUE(std::isnan(table.least(t, 1)));
    EXPECT_EQ(table.time(t), 10.0 + t);
  }
}

// Against the buckets written down directly, for every length: even and odd numbers of buckets too.
TEST(ThinnedTable, BucketsHaveTheLeastTheLargestAndTheMeanOfTheirRows) {
  for (const Index most : {2, 3, 7, 8}) {
    ThinnedTable table(1, most);
    for (std::int64_t length = 1; length <= 200; ++length) {
      const std::int64_t last = length - 1;
      table.add(std::array{last % 5 == 0 ? kMissing : value_at(last)}, static_cast<double>(last));
      ASSERT_LE(table.num_buckets(), most);
      ASSERT_EQ(table.num_rows(), length);
      ASSERT_EQ(table.num_buckets(), (length + table.rows_a_bucket() - 1) / table.rows_a_bucket());
      for (Index bucket = 0; bucket < table.num_buckets(); ++bucket) {
        double least = 9, largest = -9, sum = 0, seen = 0;
        const std::int64_t first = table.first_row(bucket);
        const std::int64_t end = std::min(first + table.rows_a_bucket(), length);
        for (std::int64_t t = first; t < end; ++t) {
          if (t % 5 == 0) continue;
          least = std::min(least, value_at(t));
          largest = std::max(largest, value_at(t));
          sum += value_at(t);
          ++seen;
        }
        EXPECT_EQ(table.time(bucket), static_cast<double>(first));
        if (seen == 0) {
          EXPECT_TRUE(std::isnan(table.mean(bucket, 0)));
          continue;
        }
        EXPECT_EQ(table.least(bucket, 0), least);
        EXPECT_EQ(table.largest(bucket, 0), largest);
        EXPECT_NEAR(table.mean(bucket, 0), sum / seen, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace headwater
