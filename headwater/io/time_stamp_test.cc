#include "headwater/io/time_stamp.hpp"

#include <gtest/gtest.h>

namespace headwater {
namespace {

double time_of(std::string_view text) {
  TimeFormat format;
  return TimeFormat::parse(text, format).value();
}

TEST(TimeStamp, CountsMicrosecondsSince1970) {
  EXPECT_EQ(time_of("1970-01-01"), 0);
  EXPECT_EQ(time_of("2000-03-01"), 951868800e6);  // after a leap day
  EXPECT_EQ(time_of("1969-12-31T23:59:59.25"), -0.75e6);
  EXPECT_EQ(time_of("2026-03-29T14:30Z"), time_of("2026-03-29 16:30:00+02:00"));
  EXPECT_EQ(time_of("2026-03-29T14:30Z"), time_of("2026-03-29T09:00-0530"));
  EXPECT_EQ(time_of("2026-03-29T24:00"), time_of("2026-03-30"));
  EXPECT_EQ(time_of("2026-03-29T14:30:00.000000000"), time_of("2026-03-29T14:30"));
}

TEST(TimeStamp, MayBeAPlainNumber) {
  EXPECT_EQ(time_of("17"), 17);
  EXPECT_EQ(time_of("-2.5e-3"), -0.0025);
  TimeFormat format;
  TimeFormat::parse("0.1", format);
  EXPECT_FALSE(format.is_calendar());
  EXPECT_EQ(format.text(0.3), "0.3");
}

TEST(TimeStamp, IsWrittenAsItWasRead) {
  for (const char* text :
       {"2026-03-29", "1789-07-14", "2026-03-29T14:30", "2026-03-29 04:05:06",
        "2026-03-29T14:30:01.250Z", "2026-03-29T00:30:00+02:00", "2026-12-31 23:59-05"}) {
    TimeFormat format;
    const double time = TimeFormat::parse(text, format).value();
    EXPECT_TRUE(format.is_calendar());
    EXPECT_EQ(format.text(time), text);
  }
  TimeFormat format;
  const double time = TimeFormat::parse("2024-02-28T23:30", format).value();
  EXPECT_EQ(format.text(time + 3600e6), "2024-02-29T00:30");
}

TEST(TimeStamp, IsRefusedWhereItIsNone) {
  TimeFormat format;
  for (const char* text :
       {"", "today", "2026-3-29x", "2026-02-29", "2026-13-01", "2026-03-29T", "2026-03-29T25:00",
        "2026-03-29T14", "2026-03-29T14:60", "2026-03-29T14:30+2", "2026-03-29T14:30 UTC", "nan",
        "inf", "2026-03-29T14:30:00.", "2026/03/29"}) {
    EXPECT_EQ(TimeFormat::parse(text, format), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace headwater
