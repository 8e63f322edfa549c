#include "headwater/io/text/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headwater {
namespace {

TEST(Utf8, LengthOfValidCharacters) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length(std::string_view("\0", 1)), 1u);
  EXPECT_EQ(utf8_length("ä-"), 2u);
  EXPECT_EQ(utf8_length("€"), 3u);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80!"), 4u);
  EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4u);  // U+10FFFF, the last one
}

TEST(Utf8, InvalidBytesHaveNoLength) {
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_EQ(utf8_length("\x80"), 0u);              // a continuation without a lead
  EXPECT_EQ(utf8_length("\xc3"), 0u);              // cut off
  EXPECT_EQ(utf8_length("\xe2\x82"), 0u);          // cut off
  EXPECT_EQ(utf8_length("\xe2\x82x"), 0u);         // no continuation
  EXPECT_EQ(utf8_length("\xc0\xaf"), 0u);          // overlong
  EXPECT_EQ(utf8_length("\xe0\x9f\xbf"), 0u);      // overlong
  EXPECT_EQ(utf8_length("\xf0\x8f\xbf\xbf"), 0u);  // overlong
  EXPECT_EQ(utf8_length("\xed\xa0\x80"), 0u);      // a surrogate
  EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(utf8_length("\xff"), 0u);
}

TEST(Utf8, WhatATerminalWouldObeyIsShownAsNumbers) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("naïve €, 3%"), "naïve €, 3%");
  EXPECT_EQ(printable("/c\xe9unts\x1b[0m\xc2\x9b"), "/c\\xe9unts\\x1b[0m\\xc2\\x9b");
  EXPECT_EQ(printable("a\x7f\nb"), "a\\x7f\\x0ab");
  // An override of the direction of writing, a mark of it, and a separator of lines.
  EXPECT_EQ(printable("\u202eexe.txt"), "\\xe2\\x80\\xaeexe.txt");
  EXPECT_EQ(printable("\u200f"), "\\xe2\\x80\\x8f");
  EXPECT_EQ(printable("\u2028"), "\\xe2\\x80\\xa8");
}

}  // namespace
}  // namespace headwater
