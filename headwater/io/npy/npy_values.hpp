#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace headwater {

// How the numbers of an NPY file become doubles.
struct NpyType {
  std::size_t item_size = 0;
  // Fills the row from numbers that lie `stride` bytes apart; they need not be aligned.
  void (*load)(const char* first, std::size_t stride, std::span<double> row) = nullptr;
};

// By NumPy's name, "<f8"; `load` is null when the type is not one of real numbers. Integers above
// 2^53 are rounded.
NpyType find_npy_type(std::string_view name);

}  // namespace headwater
