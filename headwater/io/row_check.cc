#include "headwater/io/row_check.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"

namespace headwater {

void check_row(std::span<double> values, const CellRules& rules, const std::string& name,
               Index row_number, Index first_column) {
  for (std::size_t column = 0; column < values.size(); ++column) {
    const Cell cell = check_value(values[column]);
    if (!is_acceptable(cell.trouble, rules)) {
      throw BadRow(
          fmt::format("{}: row {}, column {}: {}", name, row_number,
                      first_column + static_cast<Index>(column) + 1,
                      describe_trouble(cell.trouble, fmt::to_string(values[column]), rules)));
    }
    values[column] = cell.value;
  }
}

}  // namespace headwater
