#pragma once

#include <cstdint>
#include <string>

#include "headwater/io/cell.hpp"
#include "headwater/io/text/line_reader.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// The header of a Matrix Market file. The format is described in NIST's "The Matrix Market Exchange
// Formats: Initial Design", NISTIR 5935.
struct MtxHeader {
  bool is_sparse = false;  // "coordinate" (entries with indices), not "array" (all values)
  bool has_values = true;  // false for "pattern": every listed entry is 1
  Index num_rows = 0;
  Index num_columns = 0;
  std::int64_t num_entries = 0;
  std::int64_t size_line = 0;  // the line that announces num_entries
};

// Reads the first line, comments, and the line of sizes. Only general real matrices are accepted:
// rows are observations and columns are channels, so a symmetric matrix has no meaning here.
MtxHeader read_mtx_header(LineReader& lines, const CellRules& rules);

}  // namespace headwater
