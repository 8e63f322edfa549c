#include "headwater/io/cell_cutter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headwater {
namespace {

using Cells = std::vector<std::string>;

// A cell with bad quotes is shown as "bad quotes".
Cells cut(std::string_view line, char separator = ',') {
  Cells cells;
  for (CellCutter cutter(line, separator); !cutter.at_end();) {
    cells.emplace_back(cutter.cut().value_or("bad quotes"));
  }
  return cells;
}

TEST(CellCutter, CutsAtSeparators) {
  EXPECT_EQ(cut("a,b,c"), Cells({"a", "b", "c"}));
  EXPECT_EQ(cut("a"), Cells({"a"}));
  EXPECT_EQ(cut(""), Cells({""}));
  EXPECT_EQ(cut(","), Cells({"", ""}));
  EXPECT_EQ(cut("a,,"), Cells({"a", "", ""}));
  EXPECT_EQ(cut("a;b,c", ';'), Cells({"a", "b,c"}));
}

TEST(CellCutter, DropsSpacesAroundCells) {
  EXPECT_EQ(cut(" a ,\tb\t, c d "), Cells({"a", "b", "c d"}));
  EXPECT_EQ(cut("  ,  "), Cells({"", ""}));
  EXPECT_EQ(cut(" a \t\t b", '\t'), Cells({"a", "", "b"}));
}

TEST(CellCutter, DropsQuotes) {
  EXPECT_EQ(cut("\"12\", \"3\" ,4"), Cells({"12", "3", "4"}));
  EXPECT_EQ(cut("\"a,b\",c"), Cells({"a,b", "c"}));
  EXPECT_EQ(cut("\"\",\" x \""), Cells({"", "x"}));
  EXPECT_EQ(cut("\"say \"\"a,b\"\"\",c"), Cells({"say \"\"a,b\"\"", "c"}));
  EXPECT_EQ(cut("5\" pipe,b"), Cells({"5\" pipe", "b"}));  // a quote within says nothing
}

TEST(CellCutter, StopsAtBadQuotes) {
  EXPECT_EQ(cut("a,\"b,c"), Cells({"a", "bad quotes"}));
  EXPECT_EQ(cut("\""), Cells({"bad quotes"}));
  EXPECT_EQ(cut("\"a\"\""), Cells({"bad quotes"}));
  EXPECT_EQ(cut("\"12\"3,4"), Cells({"bad quotes"}));
}

TEST(CellCutter, CutsDigitsInOneGo) {
  CellCutter cutter("12,0,007", ',');
  double value = -1;
  EXPECT_TRUE(cutter.cut_digits(value));
  EXPECT_EQ(value, 12.0);
  EXPECT_TRUE(cutter.cut_digits(value));
  EXPECT_EQ(value, 0.0);
  EXPECT_FALSE(cutter.at_end());
  EXPECT_TRUE(cutter.cut_digits(value));
  EXPECT_EQ(value, 7.0);
  EXPECT_TRUE(cutter.at_end());
}

TEST(CellCutter, LeavesEverythingButDigits) {
  for (const char* line : {"", ",", " 1", "1 ", "1.5", "-1", "+1", "1e3", "\"1\"", "1;2"}) {
    CellCutter cutter(line, ',');
    double value = -1;
    EXPECT_FALSE(cutter.cut_digits(value)) << line;
    EXPECT_EQ(value, -1) << line;
    EXPECT_FALSE(cutter.at_end()) << line;
  }
}

TEST(CellCutter, CutsNoMoreDigitsThanAreExact) {
  double value = 0;
  EXPECT_TRUE(CellCutter("999999999999999", ',').cut_digits(value));
  EXPECT_EQ(value, 999999999999999.0);
  EXPECT_TRUE(CellCutter("999999999999999,1", ',').cut_digits(value));
  EXPECT_FALSE(CellCutter("9999999999999999", ',').cut_digits(value));
}

}  // namespace
}  // namespace headwater
