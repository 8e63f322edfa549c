#include "headwater/io/text/csv.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

const std::string kFirstTwo = "; the first two rows must have the same number";

Rows read_text(const std::string& text, const CsvOptions& options = {}) {
  const TestFolder folder;
  CsvSource source(open_for_reading(folder.write("counts.csv", text)), "counts.csv", options);
  return read_rows(source);
}

std::string trouble_with(const std::string& text, const CsvOptions& options = {}) {
  return message_of([&] { read_text(text, options); });
}

TEST(Csv, ReadsRows) {
  EXPECT_EQ(read_text("1,2,3\n4,5.5,6e2\n"), Rows({{1, 2, 3}, {4, 5.5, 600}}));
  EXPECT_EQ(read_text("1\n2\n"), Rows({{1}, {2}}));
  EXPECT_EQ(read_text("1,2"), Rows({{1, 2}}));  // the last line needs no line end
  EXPECT_EQ(read_text("1,2\r\n3,4\r\n"), Rows({{1, 2}, {3, 4}}));
  EXPECT_EQ(read_text(" 1 ,\t2\n\"3\", \"4\" \n"), Rows({{1, 2}, {3, 4}}));
  EXPECT_EQ(read_text("-0,+1\n"), Rows({{0, 1}}));
}

TEST(Csv, SkipsBlankLinesAndComments) {
  EXPECT_EQ(read_text("\n# counts\n1,2\n\n  \t\n#3,4\r\n\r\n5,6\n\n"), Rows({{1, 2}, {5, 6}}));
}

TEST(Csv, SkipsAByteOrderMark) {
  EXPECT_EQ(read_text("\xef\xbb\xbf"
                      "1,2\n"),
            Rows({{1, 2}}));
  EXPECT_EQ(read_text("\xef\xbb\xbf# comment\na,b\n1,2\n"), Rows({{1, 2}}));
}

TEST(Csv, RecognisesAHeader) {
  EXPECT_EQ(read_text("a,b\n1,2\n"), Rows({{1, 2}}));
  EXPECT_EQ(read_text("# comment\n\n\"the \"\"a,b\"\"\",\"c\"\n1,2\n"), Rows({{1, 2}}));
  EXPECT_EQ(read_text("a,\n1,2\n"), Rows({{1, 2}}));        // an empty cell is neither
  EXPECT_EQ(read_text("NA,b\n1,2\n"), Rows({{1, 2}}));      // nor is a missing one
  EXPECT_EQ(read_text("15E30,2B\n1,2\n"), Rows({{1, 2}}));  // one name is enough
  EXPECT_EQ(read_text("total,1,2\n1,2,3\n"), Rows({{1, 2, 3}}));
  EXPECT_EQ(read_text(",2\n3,4\n"), Rows({{-1, 2}, {3, 4}}));
  EXPECT_EQ(read_text(",\n3,4\n"), Rows({{-1, -1}, {3, 4}}));
}

TEST(Csv, RefusesAFirstRowOfNumbersThatLookLikeNames) {
  EXPECT_EQ(trouble_with("# plates\n2,15E30\n1,2\n"),
            "counts.csv:2: column 2: '15E30' is beyond 1e+15; say --header yes if this row holds "
            "names, --header no if it holds observations");
  EXPECT_EQ(trouble_with("1e400,2\n1,2\n"),
            "counts.csv:1: column 1: '1e400' is beyond 1e+15; say --header yes if this row holds "
            "names, --header no if it holds observations");
  const std::string numbered =
      "counts.csv:1: the first row numbers the columns from 0 to 2; say --header yes if this row "
      "holds names, --header no if it holds observations";
  EXPECT_EQ(trouble_with("0,1,2\n7,8,9\n"), numbered);
  EXPECT_EQ(trouble_with(",0,1,2\n0,7,8,9\n"), numbered);
}

TEST(Csv, RefusesAFirstRowThatTheSecondOneShowsToBeNames) {
  const std::string which =
      "; say --header yes if this row holds names, --header no if it holds observations";
  EXPECT_EQ(trouble_with("# districts\n8336,8111,9262\n0,12,NA\n"),
            "counts.csv:2: the numbers of the first row all differ and are 8111 or more, those of "
            "the second are less" +
                which);
  EXPECT_EQ(trouble_with("\"3401\",\"3402\"\n3,5\n"),
            "counts.csv:1: the first row is in quotes and the second is not" + which);
  for (const auto* text :
       {"812,812,900\n1,2,3\n", "812,99,900\n1,2,3\n", "812,950,900\n1,812,3\n",
        "812,950.5,900\n1,2,3\n", "812,950\n1,2\n", "812,NA,900\n1,2,3\n", "812,950,900\nNA,NA,\n",
        "\"1\",\"2\"\n\"3\",\"4\"\n", "\"1\",2\n3,4\n", "\"1\"\n2\n"}) {
    EXPECT_EQ(read_text(text).size(), 2u) << text;
  }
  EXPECT_EQ(trouble_with("812,950,900\nx,3,4\n"), "counts.csv:2: column 1: 'x' is not a number");
  EXPECT_EQ(read_text("8336,8111,9262\n0,1,2\n", {.header = HeaderRow::absent}).size(), 2u);
  EXPECT_EQ(read_text("8336,8111,9262\n0,1,2\n", {.header = HeaderRow::present}).size(), 1u);
}

TEST(Csv, TakesLikelyFirstRowsForObservations) {
  for (const auto* text :
       {"0\n", "0,1\n", ",0,1\n", "0,1,1\n", "1,2,3\n", "0,1,,3\n", "0,1,2.5\n", "1e15,0\n"}) {
    EXPECT_EQ(read_text(text).size(), 1u) << text;
  }
}

TEST(Csv, TakesTheHeaderItIsTold) {
  const CsvOptions yes = {.header = HeaderRow::present};
  EXPECT_EQ(read_text("15E30,2\n3,4\n", yes), Rows({{3, 4}}));
  EXPECT_EQ(read_text("0,1,2\n3,4,5\n", yes), Rows({{3, 4, 5}}));
  EXPECT_EQ(trouble_with("1,2\n", yes), "counts.csv: holds a header but no observations");
  const CsvOptions no = {.header = HeaderRow::absent};
  EXPECT_EQ(trouble_with("15E30,2\n3,4\n", no),
            "counts.csv:1: column 1: '15E30' is out of range; observations must be at most 1e+15");
  EXPECT_EQ(read_text("0,1,2\n", no), Rows({{0, 1, 2}}));
  EXPECT_EQ(trouble_with("a,b\n1,2\n", no), "counts.csv:1: column 1: 'a' is not a number");
}

TEST(Csv, KnowsAHeaderByItsNamesAlone) {
  const CsvOptions by_names = {.header = HeaderRow::by_names};
  EXPECT_EQ(read_text("0,1,2\n", by_names), Rows({{0, 1, 2}}));
  EXPECT_EQ(read_text("1E12,2\n", by_names), Rows({{1e12, 2}}));
  EXPECT_EQ(read_text("15E30,2B\n1,2\n", by_names), Rows({{1, 2}}));
}

TEST(Csv, ReadsMissingCells) {
  EXPECT_EQ(read_text("1,,3\nNA,nan,NaN\n\"\", ,na\n"),
            Rows({{1, -1, 3}, {-1, -1, -1}, {-1, -1, -1}}));
}

TEST(Csv, GuessesTheSeparator) {
  EXPECT_EQ(read_text("1;2\n3;4\n"), Rows({{1, 2}, {3, 4}}));
  EXPECT_EQ(read_text("1\t2\n\t4\n"), Rows({{1, 2}, {-1, 4}}));
  EXPECT_EQ(read_text("\"a,b\";c\n3;4\n"), Rows({{3, 4}}));
  EXPECT_EQ(trouble_with("1,2\n3;4\n"), "counts.csv:2: 1 cell where line 1 has 2" + kFirstTwo);
}

TEST(Csv, TakesTheSeparatorItIsTold) {
  EXPECT_EQ(read_text("1\t2\n\t\n3\t 4\n \n", {.separator = '\t'}),
            Rows({{1, 2}, {-1, -1}, {3, 4}}));
  EXPECT_EQ(trouble_with("a,b\n1,2\n", {.separator = '\t'}),
            "counts.csv:2: column 1: '1,2' is not a number");
}

TEST(Csv, SaysWhatIsWrongWithACell) {
  EXPECT_EQ(trouble_with("a,b,c\n1,2,-1\n"),
            "counts.csv:2: column 3: '-1' is negative; observations must be 0 or more");
  EXPECT_EQ(trouble_with("1,2\n\n# comment\n3,inf\n"),
            "counts.csv:4: column 2: 'inf' is not finite; observations must be finite");
  EXPECT_EQ(trouble_with("1,2\nabc,3\n"), "counts.csv:2: column 1: 'abc' is not a number");
  EXPECT_EQ(trouble_with("1,2\n1e400,3\n"),
            "counts.csv:2: column 1: '1e400' is out of range; observations must be at most 1e+15");
  EXPECT_EQ(trouble_with("1,2\n12345678901234567890x,3\n"),
            "counts.csv:2: column 1: '12345678901234567890…' is not a number");
  EXPECT_EQ(trouble_with(std::string("1,2\n3,4\0\n", 9)),
            "counts.csv:2: column 2: '4\\x00' is not a number");
  EXPECT_EQ(trouble_with("-1,2\n"),
            "counts.csv:1: column 1: '-1' is negative; observations must be 0 or more");
}

TEST(Csv, RefusesRaggedRows) {
  EXPECT_EQ(trouble_with("1,2,3,4,5\n1,2,3,4\n"),
            "counts.csv:2: 4 cells where line 1 has 5" + kFirstTwo);
  EXPECT_EQ(trouble_with("1,2\n1,2,3,x\n"), "counts.csv:2: 4 cells where line 1 has 2" + kFirstTwo);
  EXPECT_EQ(trouble_with("1,2\ntotal: 3\n"), "counts.csv:2: 1 cell where line 1 has 2" + kFirstTwo);
  EXPECT_EQ(trouble_with("1\n1,2\n"), "counts.csv:2: 2 cells where line 1 has 1" + kFirstTwo);
  EXPECT_EQ(trouble_with("a,b\n1,2,3\n"), "counts.csv:2: 3 cells where 2 were expected");
  EXPECT_EQ(trouble_with("1,2\n3,4\n5\n"), "counts.csv:3: 1 cell where 2 were expected");
}

TEST(Csv, LeavesAnIndexOut) {
  const Rows rows = {{1, 2}, {3, 4}};
  EXPECT_EQ(read_text(",a,b\n0,1,2\n1,3,4\n"), rows);
  EXPECT_EQ(read_text("\"\",a,b\nmon,1,2\ntue,3,4\n"), rows);
  EXPECT_EQ(read_text("a,t,b\n1,mon,2\n3,tue,4\n", {.index_column = "t"}), rows);
  EXPECT_EQ(read_text("1,2,0\n3,4,1\n", {.index_column = "3"}), rows);
  EXPECT_EQ(read_text("2,a\n1,7\n3,8\n", {.index_column = "2"}), Rows({{7}, {8}}));  // its name
  EXPECT_EQ(read_text(",a\n5,1\n", {.index_column = "none"}), Rows({{5, 1}}));
  EXPECT_EQ(
      trouble_with("Index,a\n0,1\n"),
      "counts.csv:1: column 1 is called 'Index' and may number the rows; say --index-column 1 "
      "if it does, --index-column none if it holds observations");
  EXPECT_EQ(
      trouble_with("index,a\n0,1\n", {.header = HeaderRow::by_names}),
      "counts.csv:1: column 1 is called 'index' and may number the rows; leave it out, or call "
      "it otherwise");
  EXPECT_EQ(trouble_with("ID,a\n0,1\n"),
            "counts.csv:1: column 1 is called 'ID' and may number the rows; say --index-column 1 "
            "if it does, --index-column none if it holds observations");
  EXPECT_EQ(
      trouble_with("year,a\n1999,1\n"),
      "counts.csv:1: column 1 is called 'year' and may date the rows; say --index-column 1 or "
      "--time-column 1 if it does, --index-column none if it holds observations");
  EXPECT_EQ(read_text("year,a\n5,1\n", {.index_column = "none"}), Rows({{5, 1}}));
  EXPECT_EQ(read_text("a,id\n5,1\n"), Rows({{5, 1}}));  // only a first column is suspected
  EXPECT_EQ(read_text("id\n5\n"), Rows({{5}}));         // and none that is alone
  EXPECT_EQ(trouble_with(",a,b\n0,1\n"), "counts.csv:2: 2 cells where 3 were expected");
  EXPECT_EQ(trouble_with(",a,b\n0,1,x\n"), "counts.csv:2: column 3: 'x' is not a number");
}

TEST(Csv, TellsMissingCellsFromComments) {
  EXPECT_EQ(read_text("1,2\n#N/A,4\n#NA ,5\n# 6,7\n#N/Ax,8\n"), Rows({{1, 2}, {-1, 4}, {-1, 5}}));
  EXPECT_EQ(trouble_with("1,2\n#REF!,4\n"), "counts.csv:2: column 1: '#REF!' is not a number");
}

TEST(Csv, RefusesABlankLineInOneColumnIfARowFollows) {
  const std::string refused =
      ": a blank line in a file of one column; write NA for a missing cell, or leave it out";
  EXPECT_EQ(trouble_with("1\n\n2\n"), "counts.csv:2" + refused);
  EXPECT_EQ(trouble_with("x\n1\n2\n \n\n3\n"), "counts.csv:5" + refused);
  EXPECT_EQ(read_text("\nx\n\n1\n2\n\n\n"), Rows({{1}, {2}}));
  EXPECT_EQ(read_text("1,2\n\n3,4\n"), Rows({{1, 2}, {3, 4}}));
}

TEST(Csv, RefusesBadQuotes) {
  EXPECT_EQ(trouble_with("1,2\n3,\"4\n"),
            "counts.csv:2: column 2: the cell opens with a quote but does not end with one");
  EXPECT_EQ(trouble_with("\"a,b\n1,2\n"),
            "counts.csv:1: column 1: the cell opens with a quote but does not end with one");
  EXPECT_EQ(trouble_with("1,2\n\"3\"4,5\n"),
            "counts.csv:2: column 1: the cell opens with a quote but does not end with one");
}

TEST(Csv, GoesOnBehindABadRow) {
  const TestFolder folder;
  const std::string text = "-1,2\n3,4\n5\n\"6,7\nx,8\n9,10\n" + std::string(100, '1') + "\n11,12";
  const CsvOptions options = {.limits = {.read_size = 8, .longest_line = 64}};
  CsvSource source(open_for_reading(folder.write("a", text)), "a.csv", options);
  std::vector<std::string> messages;
  EXPECT_EQ(read_good_rows(source, messages), Rows({{3, 4}, {9, 10}, {11, 12}}));
  EXPECT_EQ(
      messages,
      std::vector<std::string>(
          {"a.csv:1: column 1: '-1' is negative; observations must be 0 or more",
           "a.csv:3: 1 cell where 2 were expected",
           "a.csv:4: column 1: the cell opens with a quote but does not end with one",
           "a.csv:5: column 1: 'x' is not a number", "a.csv:7: the line is longer than 64 bytes"}));
  EXPECT_EQ(source.position(), "a.csv:8");
}

TEST(Csv, ReadsNumbersOfAllSizes) {
  EXPECT_EQ(read_text("1000000000,999999999999\n123456,7\n12345678,1234567\n0.25,5e-324\n"),
            Rows({{1e9, 999999999999}, {123456, 7}, {12345678, 1234567}, {0.25, 5e-324}}));
  EXPECT_EQ(read_text("1,22,333\n1,22,\n,22,333\n"),
            Rows({{1, 22, 333}, {1, 22, -1}, {-1, 22, 333}}));
}

TEST(Csv, RefusesFilesWithoutObservations) {
  EXPECT_EQ(trouble_with(""), "counts.csv: holds no observations");
  EXPECT_EQ(trouble_with("\n# nothing\n\n"), "counts.csv: holds no observations");
  EXPECT_EQ(trouble_with("a,b\n\n"), "counts.csv: holds a header but no observations");
}

TEST(Csv, KeepsTheRulesItIsGiven) {
  const CsvOptions options = {.rules = {.subject = "entries", .allow_missing = false}};
  EXPECT_EQ(trouble_with("1,2\n3,NA\n", options),
            "counts.csv:2: column 2: 'NA' is missing; entries must all be given");
  EXPECT_EQ(trouble_with("", options), "counts.csv: holds no entries");
}

TEST(Csv, PiecesOfAnySizeGiveTheSameRows) {
  const std::string text =
      "\xef\xbb\xbf# comment\r\n\"first, "
      "\"\"one\"\"\",b\r\n1,\"2\"\n\n123456789012345.678901,0.1\r\n,NaN\n"
      "  5 , 6";
  const Rows expected = {{1, 2}, {123456789012345.678901, 0.1}, {-1, -1}, {5, 6}};
  for (std::size_t size = 1; size <= text.size() + 1; ++size) {
    EXPECT_EQ(read_text(text, {.limits = {.read_size = size}}), expected) << size;
  }
}

TEST(Csv, ReadsLinesLongerThanItsBuffer) {
  std::string text;
  std::vector<double> expected;
  for (int i = 0; i < 100000; ++i) {
    text += std::to_string(i) + ".5,";
    expected.push_back(i + 0.5);
  }
  text.back() = '\n';
  EXPECT_EQ(read_text(text + text), Rows({expected, expected}));
}

TEST(Csv, KnowsWhereItIs) {
  const TestFolder folder;
  CsvSource source(open_for_reading(folder.write("a.csv", "a,b\n\n1,2\n#\n3,4\n")), "a.csv");
  std::vector<double> values;
  EXPECT_EQ(source.num_channels(), 2);
  EXPECT_EQ(source.position(), "a.csv");
  source.next(values);
  EXPECT_EQ(source.position(), "a.csv:3");
  source.next(values);
  EXPECT_EQ(source.position(), "a.csv:5");
  EXPECT_FALSE(source.next(values));
  EXPECT_EQ(source.position(), "a.csv:5");
  EXPECT_EQ(source.fraction_read(), 1.0);
}

TEST(Csv, HandsOutAnObservationAsSoonAsItsLineHasEnded) {
  TestPipe pipe;
  write_all(pipe.writing, "a,b\n1,2\n", "pipe");
  CsvSource source(std::move(pipe.reading), "standard input");
  std::vector<double> values;
  ASSERT_TRUE(source.next(values));
  EXPECT_EQ(values, std::vector<double>({1, 2}));
  write_all(pipe.writing, "3,4\n5,", "pipe");
  ASSERT_TRUE(source.next(values));
  EXPECT_EQ(values, std::vector<double>({3, 4}));
  write_all(pipe.writing, "6\n", "pipe");
  ASSERT_TRUE(source.next(values));
  EXPECT_EQ(values, std::vector<double>({5, 6}));
  EXPECT_EQ(source.position(), "standard input:4");
  EXPECT_EQ(source.fraction_read(), std::nullopt);
}

}  // namespace
}  // namespace headwater
