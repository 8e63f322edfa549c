#pragma once

#include <string>
#include <string_view>

namespace headwater {

// Which values a file may contain, and the words that error messages use for them.
struct CellRules {
  std::string_view subject = "observations";
  bool allow_missing = true;
};

enum class CellTrouble { none, missing, not_a_number, out_of_range, negative, not_finite };

// A missing cell has the value NaN.
struct Cell {
  double value;
  CellTrouble trouble;
};

// Applies the rules shared by all file formats: values must be from 0 to kLargestCount, -0 becomes
// 0, and NaN marks a missing cell.
Cell check_value(double value);

// Parses the text of one cell; the caller has removed surrounding spaces and quotes. An empty cell,
// NA and NaN are missing.
Cell parse_cell(std::string_view text);

inline bool is_acceptable(CellTrouble trouble, const CellRules& rules) {
  return trouble == CellTrouble::none || (trouble == CellTrouble::missing && rules.allow_missing);
}

// The message of an error, such as "'-1' is negative; observations must be 0 or more". `shown` is
// the value as it appears in the file.
std::string describe_trouble(CellTrouble trouble, std::string_view shown, const CellRules& rules);

// The text in single quotes for a one-line error message: long text is abbreviated, and
// non-printing bytes are written as \x00.
std::string quote_text(std::string_view text);

}  // namespace headwater
