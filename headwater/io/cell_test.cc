#include "headwater/io/cell.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headwater {
namespace {

double value_of(std::string_view text) {
  const Cell cell = parse_cell(text);
  EXPECT_EQ(cell.trouble, CellTrouble::none) << text;
  return cell.value;
}

std::string trouble_of(std::string_view text, CellRules rules = {}) {
  const Cell cell = parse_cell(text);
  return is_acceptable(cell.trouble, rules)
             ? ""
             : describe_trouble(cell.trouble, quote_text(text), rules);
}

TEST(Cell, ReadsNumbers) {
  EXPECT_EQ(value_of("0"), 0.0);
  EXPECT_EQ(value_of("12"), 12.0);
  EXPECT_EQ(value_of("+12.5"), 12.5);
  EXPECT_EQ(value_of("1e3"), 1000.0);
  EXPECT_EQ(value_of("1E+3"), 1000.0);
  EXPECT_EQ(value_of(".5"), 0.5);
  EXPECT_EQ(value_of("5."), 5.0);
  EXPECT_EQ(value_of("0.1"), 0.1);
  EXPECT_EQ(value_of("1e15"), 1e15);
  EXPECT_EQ(value_of("5e-324"), std::numeric_limits<double>::denorm_min());
}

TEST(Cell, NumbersTooSmallForADoubleAreZero) {
  for (const char* text : {"1e-400", "1E-9999", "1e-99999999999"}) EXPECT_EQ(value_of(text), 0.0);
  EXPECT_EQ(trouble_of("-1e-400"), "'-1e-400' is negative; observations must be 0 or more");
}

TEST(Cell, MinusZeroIsZero) {
  for (const char* text : {"-0", "-0.0", "-0e5"}) {
    EXPECT_EQ(value_of(text), 0.0);
    EXPECT_FALSE(std::signbit(value_of(text)));
  }
}

TEST(Cell, EmptyNaAndNanAreMissing) {
  for (const char* text : {"", "NA", "na", "Na", "NaN", "nan", "NAN", "-nan"}) {
    const Cell cell = parse_cell(text);
    EXPECT_EQ(cell.trouble, CellTrouble::missing) << text;
    EXPECT_TRUE(std::isnan(cell.value)) << text;
  }
}

TEST(Cell, SaysWhatIsWrong) {
  EXPECT_EQ(trouble_of("-1"), "'-1' is negative; observations must be 0 or more");
  EXPECT_EQ(trouble_of("inf"), "'inf' is not finite; observations must be finite");
  EXPECT_EQ(trouble_of("-inf"), "'-inf' is not finite; observations must be finite");
  EXPECT_EQ(trouble_of("abc"), "'abc' is not a number");
  EXPECT_EQ(trouble_of("1e400"), "'1e400' is out of range; observations must be at most 1e+15");
  EXPECT_EQ(trouble_of("1e9999"), "'1e9999' is out of range; observations must be at most 1e+15");
  EXPECT_EQ(trouble_of("-1e-9999"), "'-1e-9999' is negative; observations must be 0 or more");
}

TEST(Cell, NumbersMustTakeTheWholeCell) {
  for (const char* text : {"1x", "1 2", "0x10", "1e", "--1", "+-1", "++1", "+", "-", ".", "1,5"}) {
    EXPECT_EQ(parse_cell(text).trouble, CellTrouble::not_a_number) << text;
  }
  EXPECT_EQ(trouble_of(std::string_view("1\0", 2)), "'1\\x00' is not a number");
}

TEST(Cell, RulesMayForbidMissingCells) {
  const CellRules rules = {.subject = "entries", .allow_missing = false};
  EXPECT_EQ(trouble_of("NA", rules), "'NA' is missing; entries must all be given");
  EXPECT_EQ(trouble_of("", rules), "'' is missing; entries must all be given");
  EXPECT_EQ(trouble_of("-1", rules), "'-1' is negative; entries must be 0 or more");
  EXPECT_EQ(trouble_of("NA"), "");
}

TEST(Cell, ChecksValuesThatAreNumbersAlready) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(check_value(3.5).value, 3.5);
  EXPECT_FALSE(std::signbit(check_value(-0.0).value));
  EXPECT_EQ(check_value(-1e-300).trouble, CellTrouble::negative);
  EXPECT_EQ(check_value(infinity).trouble, CellTrouble::not_finite);
  EXPECT_EQ(check_value(-infinity).trouble, CellTrouble::not_finite);
  EXPECT_EQ(check_value(std::nan("7")).trouble, CellTrouble::missing);
}

TEST(QuoteText, AbbreviatesLongText) {
  EXPECT_EQ(quote_text("abcdefghijklmnopqrst"), "'abcdefghijklmnopqrst'");
  EXPECT_EQ(quote_text("abcdefghijklmnopqrstu"), "'abcdefghijklmnopqrst…'");
  EXPECT_EQ(quote_text("äöüäöüäöüäöüäöüäöüäöü"), "'äöüäöüäöüäöüäöüäöüäö…'");
}

TEST(QuoteText, EscapesNonPrintingBytes) {
  EXPECT_EQ(quote_text("a\tb\x1b[0m"), "'a\\x09b\\x1b[0m'");
  EXPECT_EQ(quote_text("\xff\xfe"), "'\\xff\\xfe'");
  EXPECT_EQ(quote_text("\xc2\x9b"), "'\\xc2\\x9b'");  // a control character above ASCII
  EXPECT_EQ(quote_text("naïve €"), "'naïve €'");
}

}  // namespace
}  // namespace headwater
