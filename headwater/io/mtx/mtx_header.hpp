#pragma once

#include <cstdint>
#include <string>

#include "headwater/core/matrix.hpp"
#include "headwater/io/cell.hpp"
#include "headwater/io/text/line_reader.hpp"

namespace headwater {

// What a Matrix Market file says about itself before its entries. The format is described in NIST's
// "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935.
struct MtxHeader {
  bool is_sparse = false;  // "coordinate": entries with their places; else "array": all of them
  bool has_values = true;  // false for "pattern": an entry that is there is a 1
  Index num_rows = 0;
  Index num_columns = 0;
  std::int64_t num_entries = 0;
  std::int64_t size_line = 0;  // the line that says how many of these there are
};

// Reads the first line, comments, and the line of sizes. Only general matrices of real numbers are
// taken: rows are observations and columns are channels, so that symmetry makes no sense.
MtxHeader read_mtx_header(LineReader& lines, const CellRules& rules);

}  // namespace headwater
