#include "headwater/io/text/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace headwater {
namespace {

template <class Value>
std::string text_of(Value value) {
  return JsonWriter().value(value).text();
}

TEST(Json, WritesNumbersWith17Digits) {
  EXPECT_EQ(text_of(0.1), "0.10000000000000001");
  EXPECT_EQ(text_of(3.0), "3");
  EXPECT_EQ(text_of(-1.5e300), "-1.5000000000000001e+300");
  EXPECT_EQ(std::strtod(text_of(1.0 / 3).c_str(), nullptr), 1.0 / 3);
}

TEST(Json, HasNoNumbersThatAreNotFinite) {
  EXPECT_EQ(text_of(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(text_of(std::nan("")), "null");
}

TEST(Json, WritesWholeNumbersInFull) {
  EXPECT_EQ(text_of(7), "7");
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(Json, WritesWords) {
  EXPECT_EQ(text_of(true), "true");
  EXPECT_EQ(text_of(false), "false");
  EXPECT_EQ(JsonWriter().null().text(), "null");
}

TEST(Json, EscapesStrings) {
  EXPECT_EQ(text_of("text"), "\"text\"");
  EXPECT_EQ(text_of(""), "\"\"");
  EXPECT_EQ(text_of("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(text_of("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(text_of(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\\u007f\"");
  // An escape sequence in one character, an override of the direction of writing, a tag.
  EXPECT_EQ(text_of("\u009b\u202e\U000e0041"), R"("\u009b\u202e\udb40\udc41")");
  EXPECT_EQ(text_of("größer €"), "\"größer €\"");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(text_of("a\xff\xc3z"), "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
}

void write_example(JsonWriter& json) {
  json.begin_object();
  json.key("name").value("basis \"one\"");
  json.key("values").begin_array().value(1).value(2.5).null().end_array();
  json.key("empty").begin_object().end_object();
  json.key("none").begin_array().end_array();
  json.key("nested").begin_array().begin_object().key("a").value(true).end_object().end_array();
  json.end_object();
}

TEST(Json, WritesCompactly) {
  JsonWriter json;
  write_example(json);
  EXPECT_EQ(json.text(), R"({"name":"basis \"one\"","values":[1,2.5,null],"empty":{},"none":[],)"
                         R"("nested":[{"a":true}]})");
}

TEST(Json, WritesIndented) {
  JsonWriter json(JsonWriter::Layout::indented);
  write_example(json);
  EXPECT_EQ(json.text(), R"({
  "name": "basis \"one\"",
  "values": [
    1,
    2.5,
    null
  ],
  "empty": {},
  "none": [],
  "nested": [
    {
      "a": true
    }
  ]
})");
}

#ifndef NDEBUG
TEST(JsonDeathTest, AssertsThatPiecesFollowEachOther) {
  EXPECT_DEATH(JsonWriter().key("a"), "");
  EXPECT_DEATH(JsonWriter().end_object(), "");
  EXPECT_DEATH(JsonWriter().begin_object().value(1), "");
  EXPECT_DEATH(JsonWriter().begin_object().end_array(), "");
  EXPECT_DEATH(JsonWriter().begin_object().key("a").end_object(), "");
  EXPECT_DEATH(JsonWriter().begin_object().key("a").key("b"), "");
  EXPECT_DEATH(JsonWriter().begin_array().key("a"), "");
  EXPECT_DEATH(JsonWriter().value(1).value(2), "");
  EXPECT_DEATH(JsonWriter().begin_array().text(), "");
}
#endif

}  // namespace
}  // namespace headwater
