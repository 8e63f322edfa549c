#include "headwater/core/duration.hpp"

#include <gtest/gtest.h>

#include "headwater/error.hpp"

namespace headwater {
namespace {

TEST(Duration, HasANumberAndAUnit) {
  EXPECT_EQ(seconds_of_duration("90s"), 90);
  EXPECT_EQ(seconds_of_duration("30min"), 1800);
  EXPECT_EQ(seconds_of_duration("24h"), 86400);
  EXPECT_EQ(seconds_of_duration("1.5d"), 129600);
  EXPECT_EQ(seconds_of_duration("2w"), 1209600);
  for (const char* text :
       {"", "24", "h", "-1h", "0h", "24 h", "24H", "nanh", "infs", "1e3s", "5m"}) {
    EXPECT_EQ(seconds_of_duration(text), std::nullopt) << text;
  }
}

TEST(Duration, IsAWholeNumberOfRows) {
  EXPECT_EQ(steps_of_duration("24h", 900), 96);
  EXPECT_EQ(steps_of_duration("7d", 3600), 168);
  EXPECT_EQ(steps_of_duration("30min", 1800), 1);
  EXPECT_EQ(steps_of_duration("1s", 0.1), 10);  // a tenth is no double
  EXPECT_THROW(steps_of_duration("24h", 7000), UsageError);
  EXPECT_THROW(steps_of_duration("30min", 3600), UsageError);
  EXPECT_THROW(steps_of_duration("day", 3600), UsageError);
}

TEST(Duration, IsPrintedInItsLongestUnit) {
  EXPECT_EQ(duration_text(86400), "1d");
  EXPECT_EQ(duration_text(604800), "1w");
  EXPECT_EQ(duration_text(5400), "90min");
  EXPECT_EQ(duration_text(0.25), "0.25s");
}

}  // namespace
}  // namespace headwater
