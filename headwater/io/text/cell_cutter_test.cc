#include "headwater/io/text/cell_cutter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "headwater/random.hpp"

namespace headwater {
namespace {

using Cells = std::vector<std::string>;

// A line followed by other bytes. If those are digits, a cutter that reads past the line gives a
// wrong number.
class Line {
 public:
  explicit Line(std::string_view text, char behind = '7')
      : bytes_(std::string(text) + std::string(kReadBehind, behind)), size_(text.size()) {}

  CellCutter cutter(char separator = ',') const {
    return CellCutter(std::string_view(bytes_).substr(0, size_), separator);
  }

 private:
  std::string bytes_;
  std::size_t size_;
};

// Splits the text into cells; a cell with invalid quotes becomes "bad quotes".
Cells cut(std::string_view text, char separator = ',') {
  Cells cells;
  const Line line(text);
  for (CellCutter cutter = line.cutter(separator); !cutter.at_end();) {
    cells.emplace_back(cutter.cut().value_or("bad quotes"));
  }
  return cells;
}

// The number at the beginning of the line, if cut_number() accepts it, and the start of the next
// cell.
std::string cut_number(std::string_view text) {
  const Line line(text);
  CellCutter cutter = line.cutter();
  double value = -1;
  if (!cutter.cut_number(value)) {
    EXPECT_EQ(value, -1) << text;
    EXPECT_FALSE(cutter.at_end()) << text;
    return "none";
  }
  return fmt::format("{} then {}", value, cutter.at_end() ? "the end" : cutter.cut().value());
}

std::string cut_two_numbers(std::string_view text, char separator = ',', char behind = '\n') {
  const Line line(text, behind);
  CellCutter cutter = line.cutter(separator);
  std::array<double, 2> values = {-1, -1};
  if (!cutter.cut_two_numbers(values.data())) {
    EXPECT_EQ(values, (std::array<double, 2>{-1, -1})) << text;
    EXPECT_FALSE(cutter.at_end()) << text;
    return "none";
  }
  return fmt::format("{} {} then {}", values[0], values[1],
                     cutter.at_end() ? "the end" : cutter.cut().value());
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
  EXPECT_EQ(cut("5\" pipe,b"), Cells({"5\" pipe", "b"}));  // a quote inside a cell has no meaning
}

TEST(CellCutter, StopsAtBadQuotes) {
  EXPECT_EQ(cut("a,\"b,c"), Cells({"a", "bad quotes"}));
  EXPECT_EQ(cut("\""), Cells({"bad quotes"}));
  EXPECT_EQ(cut("\"a\"\""), Cells({"bad quotes"}));
  EXPECT_EQ(cut("\"12\"3,4"), Cells({"bad quotes"}));
}

TEST(CellCutter, CutsANumberInOneGo) {
  EXPECT_EQ(cut_number("12,x"), "12 then x");
  EXPECT_EQ(cut_number("007"), "7 then the end");
  EXPECT_EQ(cut_number("0,"), "0 then ");
  EXPECT_EQ(cut_number("1234567,x"), "1234567 then x");
  EXPECT_EQ(cut_number("12345678,x"), "12345678 then x");
  EXPECT_EQ(cut_number("999999999999999"), "999999999999999 then the end");
  EXPECT_EQ(cut_number("1.5,x"), "1.5 then x");
  EXPECT_EQ(cut_number("5."), "5 then the end");
  EXPECT_EQ(cut_number("1234567.12345678"), "1234567.12345678 then the end");
  EXPECT_EQ(cut_number("12345678.125,x"), "12345678.125 then x");
  EXPECT_EQ(cut_number("0.123456789012345678"), "0.12345678901234568 then the end");
  EXPECT_EQ(cut_number("1e3,x"), "1000 then x");
}

TEST(CellCutter, LeavesEverythingElse) {
  for (const char* line :
       {"",      ",",  " 1",   "1 ",    "1 ,2", "-1",    "+1",     ".5",  "\"1\"", "1;2",
        "1.5;2", "1x", "1.5x", "1.2.3", "1e",   "1e999", "1e-999", "inf", "nan",   "NA"}) {
    EXPECT_EQ(cut_number(line), "none") << line;
  }
}

// Up to 15 digits take the fast path, more do not; both must give the nearest double.
TEST(CellCutter, RoundsAsTheStandardLibraryDoes) {
  Generator random = RandomStream(7).at(0, 0, Purpose::observation);
  for (int i = 0; i < 20000; ++i) {
    const auto whole = static_cast<std::int64_t>(std::pow(10.0, 9 * random.uniform()));
    const auto digits = static_cast<int>(10 * random.uniform());
    const std::string text =
        fmt::format("{:.{}f}", static_cast<double>(whole) * random.uniform(), digits);
    const Line line(text);
    double value = -1;
    ASSERT_TRUE(line.cutter().cut_number(value)) << text;
    EXPECT_EQ(value, std::strtod(text.c_str(), nullptr)) << text;
  }
}

TEST(CellCutter, CutsTwoNumbersInOneGo) {
  EXPECT_EQ(cut_two_numbers("1,2"), "1 2 then the end");
  EXPECT_EQ(cut_two_numbers("12,34,x"), "12 34 then x");
  EXPECT_EQ(cut_two_numbers("0,12345,x"), "0 12345 then x");
  EXPECT_EQ(cut_two_numbers("12345,6,"), "12345 6 then ");
  EXPECT_EQ(cut_two_numbers("12345,6,", ',', '7'), "12345 6 then ");
  EXPECT_EQ(cut_two_numbers("123\t456", '\t'), "123 456 then the end");
}

TEST(CellCutter, LeavesWhatIsNotTwoShortNumbers) {
  for (const char* line : {"", "1", "12", ",1", "1,", "1,,2", "1,2 ", "1, 2", "1.5,2", "-1,2",
                           "1,-2", "1;2", "1,2;3", "1234,5678", "12345678,9", "1,\xff", "\xff,1"}) {
    EXPECT_EQ(cut_two_numbers(line), "none") << line;
  }
  // The digits after the line are not part of it, so each cell must be cut alone.
  EXPECT_EQ(cut_two_numbers("1,2", ',', '7'), "none");
  EXPECT_EQ(cut_two_numbers("12,", ',', '7'), "none");
  EXPECT_EQ(cut_two_numbers("12", ',', ','), "none");
}

}  // namespace
}  // namespace headwater
