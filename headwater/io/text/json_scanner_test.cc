#include "headwater/io/text/json_scanner.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "headwater/io/text/digits.hpp"

namespace headwater {
namespace {

// Empty if the text is exactly one valid value; otherwise the error message.
std::string trouble_with_line(const std::string& text) {
  try {
    JsonScanner json(text);
    json.skip_value();
    json.expect_end();
    return "";
  } catch (const JsonTrouble& trouble) {
    return fmt::format("column {}: {}", trouble.column(), trouble.what());
  }
}

TEST(JsonScanner, PassesOverAnyValue) {
  for (const char* text : {"1", "-1.5e-3", "true", "false", "null", "NaN", "\"\"",
                           "\"a \\\" \\\\\"", "[]", " [ ] ", "{}", "[1,[2,{\"a\":[3]}],\"x\"]",
                           "{\"a\":1,\"b\":{\"c\":[null,{}]}}", "\t{ \"a\" : [ 1 , 2 ] }\r"}) {
    EXPECT_EQ(trouble_with_line(text), "") << text;
  }
}

TEST(JsonScanner, SaysWhereAndWhatIsNotJson) {
  EXPECT_EQ(trouble_with_line(""), "column 1: found the end of the line; expected a value");
  EXPECT_EQ(trouble_with_line("hello"), "column 1: found 'hello'; expected a value");
  EXPECT_EQ(trouble_with_line("[1,2"), "column 5: found the end of the line; expected ',' or ']'");
  EXPECT_EQ(trouble_with_line("[1 2]"), "column 4: found '2'; expected ',' or ']'");
  EXPECT_EQ(trouble_with_line("[1,]"), "column 4: found ']'; expected a value");
  EXPECT_EQ(trouble_with_line("{a:1}"), "column 2: found 'a'; expected a name in quotes");
  EXPECT_EQ(trouble_with_line("{\"a\" 1}"), "column 6: found '1'; expected ':'");
  EXPECT_EQ(trouble_with_line("{\"a\":1]"), "column 7: found ']'; expected ',' or '}'");
  EXPECT_EQ(trouble_with_line("{\"a\":1,}"), "column 8: found '}'; expected a name in quotes");
  EXPECT_EQ(trouble_with_line("\"a"),
            "column 3: found the end of the line; expected a quote that closes "
            "the string");
  EXPECT_EQ(trouble_with_line("\"a\\"),
            "column 4: found the end of the line; expected a quote that closes the string");
  EXPECT_EQ(trouble_with_line("1 2"), "column 3: found '2'; expected the end of the line");
  EXPECT_EQ(trouble_with_line(std::string("1\0", 2)), "column 1: found '1\\x00'; expected a value");
}

TEST(JsonScanner, GoesOnlySoDeep) {
  EXPECT_EQ(trouble_with_line(std::string(100, '[') + std::string(100, ']')), "");
  EXPECT_EQ(trouble_with_line(std::string(1000000, '[')), "column 101: nested over 100 deep");
}

TEST(JsonScanner, ReadsDigitsInOneGo) {
  const std::string text = " 12,345678901,1.5,7" + std::string(kReadBehind, '7');
  JsonScanner json(std::string_view(text).substr(0, text.size() - kReadBehind));
  double value = -1;
  EXPECT_TRUE(json.read_digits_only(value));
  EXPECT_EQ(value, 12);
  EXPECT_TRUE(json.accept(','));
  EXPECT_FALSE(json.read_digits_only(value));
  EXPECT_EQ(json.read_word(), "345678901");
  EXPECT_TRUE(json.accept(','));
  EXPECT_FALSE(json.read_digits_only(value));
  EXPECT_EQ(json.read_word(), "1.5");
  EXPECT_EQ(json.column(), 18u);
  EXPECT_TRUE(json.accept(','));
  EXPECT_FALSE(json.read_digits_only(value));  // the number may continue after the text
  EXPECT_EQ(json.read_word(), "7");
  EXPECT_EQ(value, 12);
}

}  // namespace
}  // namespace headwater
