#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

// The header of an NPY file. The format is described in NumPy's numpy.lib.format.
struct NpyHeader {
  std::string type;  // in NumPy's notation: "<f8"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;
};

// Parses the header at the beginning of `bytes`. `name` is the file's name in error messages.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

// The header that we write has a fixed size, so that it can be written at the end, when the number
// of rows is known.
inline constexpr std::size_t kNpyHeaderSize = 128;

// The header of a row-major array of little-endian doubles.
std::string format_npy_header(std::int64_t num_rows, std::int64_t num_columns);

}  // namespace headwater
