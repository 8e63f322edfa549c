#include "headwater/core/duration.hpp"

#include <gtest/gtest.h>

namespace headwater {
namespace {

TEST(Duration, KnowsItsUnits) {
  EXPECT_EQ(duration_in_seconds("30s"), 30);
  EXPECT_EQ(duration_in_seconds("15min"), 900);
  EXPECT_EQ(duration_in_seconds("24h"), 86400);
  EXPECT_EQ(duration_in_seconds("7d"), 604800);
  EXPECT_EQ(duration_in_seconds("0.5w"), 302400);
}

TEST(Duration, IsNothingElse) {
  for (const char* text : {"", "h", "24", "24 h", "24H", "1h30min", "infh", "nan"}) {
    EXPECT_EQ(duration_in_seconds(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace headwater
