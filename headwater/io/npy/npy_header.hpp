#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

// What the beginning of an NPY file says about the numbers that follow. The format is described in
// NumPy's numpy.lib.format.
struct NpyHeader {
  std::string type;  // as NumPy writes it: "<f8"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;
};

// Reads the header at the beginning of `bytes`, the contents of the file of that name.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

// The header that we write always takes as many bytes, so that it can be put in place when the
// number of rows is known.
inline constexpr std::size_t kNpyHeaderSize = 128;

// For doubles, low byte first, row after row.
std::string format_npy_header(std::int64_t num_rows, std::int64_t num_columns);

}  // namespace headwater
