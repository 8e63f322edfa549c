#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace headwater {

// How to convert the numbers of an NPY file to doubles.
struct NpyType {
  std::size_t item_size = 0;
  // Fills the row from numbers that are `stride` bytes apart and need not be aligned.
  void (*load)(const char* first, std::size_t stride, std::span<double> row) = nullptr;
};

// Finds a type by its NumPy name, such as "<f8". `load` is null unless the type is a real number.
// Integers above 2^53 are rounded.
NpyType find_npy_type(std::string_view name);

}  // namespace headwater
