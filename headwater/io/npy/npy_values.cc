#include "headwater/io/npy/npy_values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headwater {
namespace {

// IEEE 754 binary16; C++20 has no such type.
struct Half {
  std::uint16_t bits;
};

double to_double(Half half) {
  const int exponent = (half.bits >> 10) & 0x1f;
  const int fraction = half.bits & 0x3ff;
  double size = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) size = std::ldexp(fraction, -24);
  if (exponent == 0x1f) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return (half.bits & 0x8000) != 0 ? -size : size;
}

// One byte of a NumPy bool. Loading a byte above 1 into a C++ bool would be undefined.
struct Truth {
  std::uint8_t byte;
};

double to_double(Truth truth) { return truth.byte != 0 ? 1.0 : 0.0; }

template <class T>
double to_double(T number) {
  return static_cast<double>(number);
}

template <class T, bool swapped>
void load_row(const char* first, std::size_t stride, std::span<double> row) {
  for (double& value : row) {
    std::array<char, sizeof(T)> bytes;
    std::copy_n(first, sizeof(T), bytes.data());
    if constexpr (swapped) std::reverse(bytes.begin(), bytes.end());
    value = to_double(std::bit_cast<T>(bytes));
    first += stride;
  }
}

template <class T>
NpyType type_of(bool swapped) {
  return {sizeof(T), swapped ? load_row<T, true> : load_row<T, false>};
}

}  // namespace

NpyType find_npy_type(std::string_view name) {
  if (name.size() != 3) return {};
  const std::string_view type = name.substr(1);
  if (name[0] == '|' && type[1] != '1') return {};  // '|' means no byte order: single bytes only
  if (std::string_view("<>=|").find(name[0]) == std::string_view::npos) return {};
  const bool is_little = std::endian::native == std::endian::little;
  const bool swapped = (name[0] == '<' && !is_little) || (name[0] == '>' && is_little);
  if (type == "b1") return type_of<Truth>(swapped);
  if (type == "i1") return type_of<std::int8_t>(swapped);
  if (type == "i2") return type_of<std::int16_t>(swapped);
  if (type == "i4") return type_of<std::int32_t>(swapped);
  if (type == "i8") return type_of<std::int64_t>(swapped);
  if (type == "u1") return type_of<std::uint8_t>(swapped);
  if (type == "u2") return type_of<std::uint16_t>(swapped);
  if (type == "u4") return type_of<std::uint32_t>(swapped);
  if (type == "u8") return type_of<std::uint64_t>(swapped);
  if (type == "f2") return type_of<Half>(swapped);
  if (type == "f4") return type_of<float>(swapped);
  if (type == "f8") return type_of<double>(swapped);
  return {};
}

}  // namespace headwater
