#pragma once

#include <span>
#include <string>

#include "headwater/core/matrix.hpp"
#include "headwater/io/cell.hpp"

namespace headwater {

// For files that hold numbers, not text: applies check_value() to every value of a row. BadRow says
// "counts.npy: row 17, column 3: ...".
void check_row(std::span<double> values, const CellRules& rules, const std::string& name,
               Index row_number);

}  // namespace headwater
