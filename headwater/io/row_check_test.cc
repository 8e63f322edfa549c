#include "headwater/io/row_check.hpp"

#include <gtest/gtest.h>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

TEST(RowCheck, LeavesGoodValues) {
  std::vector<double> row = {1, -0.0, 5e-324, std::nan("7")};
  check_row(row, {}, "a.npy", 3);
  EXPECT_EQ(row[0], 1);
  EXPECT_FALSE(std::signbit(row[1]));
  EXPECT_EQ(row[2], 5e-324);
  EXPECT_TRUE(std::isnan(row[3]));
}

TEST(RowCheck, NamesRowAndColumn) {
  std::vector<double> row = {1, -2};
  EXPECT_EQ(message_of<BadRow>([&] { check_row(row, {}, "a.npy", 3); }),
            "a.npy: row 3, column 2: -2 is negative; observations must be 0 or more");
}

}  // namespace
}  // namespace headwater
