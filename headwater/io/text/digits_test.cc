#include "headwater/io/text/digits.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headwater {
namespace {

Digits read(std::string text, std::size_t length) {
  text.append(kReadBehind, '5');
  return read_digits(text.data(), text.data() + length);
}

Digits read(const std::string& text) { return read(text, text.size()); }

TEST(Digits, ReadsUpToEight) {
  std::string text;
  std::uint64_t value = 0;
  for (std::size_t count = 1; count <= 8; ++count) {
    text += static_cast<char>('0' + count);
    value = 10 * value + count;
    for (const std::string& behind : {std::string(), std::string(",12"), std::string("x")}) {
      EXPECT_EQ(read(text + behind).value, value) << text << behind;
      EXPECT_EQ(read(text + behind).count, count) << text << behind;
    }
  }
  EXPECT_EQ(read("123456789").value, 12345678u);
  EXPECT_EQ(read("123456789").count, 8u);
  EXPECT_EQ(read("99999999").value, 99999999u);
  EXPECT_EQ(read("00000000").value, 0u);
  EXPECT_EQ(read("0070,").value, 70u);
}

TEST(Digits, StopsAtTheEndOfTheText) {
  EXPECT_EQ(read("12345678", 3).value, 123u);
  EXPECT_EQ(read("12345678", 3).count, 3u);
  EXPECT_EQ(read("12345678", 0).count, 0u);
}

// Tests every byte value, alone and between digits.
TEST(Digits, TakesNothingElseForADigit) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const bool is_digit = c >= '0' && c <= '9';
    EXPECT_EQ(read(std::string(1, c)).count, is_digit ? 1u : 0u) << byte;
    for (std::size_t at = 0; at < 8; ++at) {
      std::string text = "12345678";
      text[at] = c;
      EXPECT_EQ(read(text).count, is_digit ? 8 : at) << byte << " at " << at;
      const std::uint64_t expected = is_digit ? 0 : std::uint64_t{0x80} << (8 * at);
      EXPECT_EQ(find_others(load_eight(text.data())), expected) << byte << " at " << at;
    }
  }
}

}  // namespace
}  // namespace headwater
