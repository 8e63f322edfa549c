#pragma once

#include <span>
#include <string>

#include "headwater/io/cell.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// For binary files: applies check_value() to every value of a row. Throws BadRow, such as
// "counts.npy: row 17, column 3: ...". The values are those of the columns from `first_column` on.
void check_row(std::span<double> values, const CellRules& rules, const std::string& name,
               Index row_number, Index first_column = 0);

}  // namespace headwater
