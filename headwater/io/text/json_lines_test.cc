#include "headwater/io/text/json_lines.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

const std::string kSameNumber = "; the first two rows must have the same number";

class JsonLinesTest : public testing::Test {
 protected:
  JsonLinesSource open(const std::string& text, const CellRules& rules = {},
                       LineLimits limits = {}) const {
    TextFile file = open_text(folder_.write("a.jsonl", text));
    file.name = "a.jsonl";
    return JsonLinesSource(std::move(file), rules, {}, limits);
  }

  Rows read(const std::string& text, const CellRules& rules = {}, LineLimits limits = {}) const {
    JsonLinesSource source = open(text, rules, limits);
    return read_rows(source);
  }

  std::string trouble_with(const std::string& text, const CellRules& rules = {}) const {
    return message_of([&] { read(text, rules); });
  }

  TestFolder folder_;
};

TEST_F(JsonLinesTest, ReadsArraysAndObjects) {
  EXPECT_EQ(read("[1,2]\n[ 3 , 4.5e1 ]\n"), Rows({{1, 2}, {3, 45}}));
  EXPECT_EQ(read("{\"t\":1,\"y\":[1,2]}\n{\"y\":[3,4],\"t\":2}\n"), Rows({{1, 2}, {3, 4}}));
  EXPECT_EQ(read("[1,2]\n\n{\"y\":[3,4]}\r\n \n[5,6]"), Rows({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(read("{\"who\":{\"y\":[9]},\"y\":[1],\"z\":[[],\"]\",null]}\n"), Rows({{1}}));
  EXPECT_EQ(read("\xef\xbb\xbf[1]\n"), Rows({{1}}));
}

TEST_F(JsonLinesTest, NullIsAMissingCell) {
  EXPECT_EQ(read("[1,null,NaN]\n"), Rows({{1, -1, -1}}));
  EXPECT_EQ(trouble_with("[1]\n[null]\n", {.subject = "entries", .allow_missing = false}),
            "a.jsonl:2: column 2: 'null' is missing; entries must all be given");
}

TEST_F(JsonLinesTest, SaysWhereALineIsNotJson) {
  EXPECT_EQ(trouble_with("[1,2]\n[3,x]\n"), "a.jsonl:2: column 4: 'x' is not a number");
  EXPECT_EQ(trouble_with("[1,2]\n[3,\n"),
            "a.jsonl:2: column 4: found the end of the line; expected a number or null");
  EXPECT_EQ(trouble_with("[1,2]\n[3,4\n"),
            "a.jsonl:2: column 5: found the end of the line; expected ',' or ']'");
  EXPECT_EQ(trouble_with("[1,2] 3\n"),
            "a.jsonl:1: column 7: found '3'; expected the end of the line");
  EXPECT_EQ(
      trouble_with("1,2\n"),
      "a.jsonl:1: column 1: found '1'; expected an array of numbers, or an object that has one "
      "under \"y\"");
  EXPECT_EQ(trouble_with("[[1]]\n"), "a.jsonl:1: column 2: found '['; expected a number or null");
  EXPECT_EQ(trouble_with("[\"1\"]\n"),
            "a.jsonl:1: column 2: found '\"'; expected a number or null");
  EXPECT_EQ(trouble_with("{\"t\":,\"y\":[1]}\n"),
            "a.jsonl:1: column 6: found ','; expected a value");
  EXPECT_EQ(trouble_with("{}\n"), "a.jsonl:1: column 2: found '}'; expected a name in quotes");
}

TEST_F(JsonLinesTest, SaysWhatIsWrongWithAnObject) {
  EXPECT_EQ(trouble_with("{\"t\":1}\n"),
            "a.jsonl:1: column 1: the object has no \"y\"; expected an array of numbers");
  EXPECT_EQ(trouble_with("{\"y\":[1], \"y\":[2]}\n"), "a.jsonl:1: column 11: a second \"y\"");
  EXPECT_EQ(
      trouble_with("{\"y\":3}\n"),
      "a.jsonl:1: column 6: found '3'; expected an array of numbers, or an object that has one "
      "under \"y\"");
}

TEST_F(JsonLinesTest, SaysWhatIsWrongWithAValue) {
  EXPECT_EQ(trouble_with("[1,-2]\n"),
            "a.jsonl:1: column 4: '-2' is negative; observations must be 0 or more");
  EXPECT_EQ(trouble_with("[1,2]\n[1e999,3]\n"),
            "a.jsonl:2: column 2: '1e999' is out of range; observations must be at most 1e+15");
  EXPECT_EQ(trouble_with("[1,true]\n"), "a.jsonl:1: column 4: 'true' is not a number");
  EXPECT_EQ(trouble_with("[Infinity]\n"),
            "a.jsonl:1: column 2: 'Infinity' is not finite; observations must be finite");
}

TEST_F(JsonLinesTest, SaysWhatIsWrongWithTheWhole) {
  EXPECT_EQ(trouble_with("[1,2]\n[1]\n"),
            "a.jsonl:2: 1 number where the first row has 2" + kSameNumber);
  EXPECT_EQ(trouble_with("[1]\n[1,2]\n"),
            "a.jsonl:2: 2 numbers where the first row has 1" + kSameNumber);
  EXPECT_EQ(trouble_with("[]\n"), "a.jsonl:1: column 1: the array is empty");
  EXPECT_EQ(trouble_with("\n \n"), "a.jsonl: holds no observations");
}

TEST_F(JsonLinesTest, GoesOnBehindABadRow) {
  JsonLinesSource source = open("[1,-1]\n[1,2]\nnonsense\n[3]\n[5,6]\n");
  std::vector<std::string> messages;
  EXPECT_EQ(read_good_rows(source, messages), Rows({{1, 2}, {5, 6}}));
  EXPECT_EQ(
      messages,
      std::vector<std::string>(
          {"a.jsonl:1: column 4: '-1' is negative; observations must be 0 or more",
           "a.jsonl:3: column 1: found 'nonsense'; expected an array of numbers, or an object "
           "that has one under \"y\"",
           "a.jsonl:4: 1 number where 2 were expected"}));
}

TEST_F(JsonLinesTest, PiecesOfAnySizeGiveTheSameRows) {
  const std::string text = "{\"t\":\"noon\",\"y\":[1,null]}\r\n\n[12345678901,0.1]\n[ 3 , 4 ]";
  for (std::size_t size = 1; size <= text.size() + 1; ++size) {
    EXPECT_EQ(read(text, {}, {.read_size = size}), Rows({{1, -1}, {12345678901, 0.1}, {3, 4}}))
        << size;
  }
}

TEST_F(JsonLinesTest, KnowsWhereItIs) {
  JsonLinesSource source = open(
      "{\"t\":12.5,\"y\":[1]}\n{\"y\":[1],\"t\":\"2024-05-06\"}\n[1]\n{\"y\":[1],\"t\":[1,2]}\n");
  std::vector<double> values;
  EXPECT_EQ(source.num_channels(), 1);
  EXPECT_EQ(source.position(), "a.jsonl");
  for (const char* expected : {"a.jsonl:1 (t = '12.5')", "a.jsonl:2 (t = '2024-05-06')",
                               "a.jsonl:3", "a.jsonl:4 (t = '[1,2]')"}) {
    ASSERT_TRUE(source.next(values));
    EXPECT_EQ(source.position(), expected);
  }
  EXPECT_FALSE(source.next(values));
  EXPECT_EQ(source.fraction_read(), 1.0);
}

TEST_F(JsonLinesTest, HandsOutAnObservationAsSoonAsItsLineHasEnded) {
  TestPipe pipe;
  write_all(pipe.writing, "[1,2]\n[3", "pipe");
  TextFile file = {std::make_unique<FileBytes>(std::move(pipe.reading), "pipe"), "pipe"};
  JsonLinesSource source(std::move(file));
  std::vector<double> values;
  ASSERT_TRUE(source.next(values));
  EXPECT_EQ(values, std::vector<double>({1, 2}));
  write_all(pipe.writing, ",4]\n", "pipe");
  ASSERT_TRUE(source.next(values));
  EXPECT_EQ(values, std::vector<double>({3, 4}));
}

}  // namespace
}  // namespace headwater
