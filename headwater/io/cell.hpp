#pragma once

#include <string>
#include <string_view>

namespace headwater {

// What may stand in the cells of a file, and what an error calls them.
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

// The rules that every file format shares: values are finite and 0 or more, -0 becomes 0 and NaN
// is a missing cell.
Cell check_value(double value);

// Reads the text of one cell, without the spaces and quotes around it. An empty cell, NA and NaN
// are missing.
Cell parse_cell(std::string_view text);

inline bool is_acceptable(CellTrouble trouble, const CellRules& rules) {
  return trouble == CellTrouble::none || (trouble == CellTrouble::missing && rules.allow_missing);
}

// "'-1' is negative; observations must be 0 or more", where `shown` is the value as it was found.
std::string describe_trouble(CellTrouble trouble, std::string_view shown, const CellRules& rules);

// The text in single quotes, fit for an error of one line: abbreviated, and non-printing bytes
// written as \x00.
std::string quote_text(std::string_view text);

}  // namespace headwater
