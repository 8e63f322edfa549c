#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Decimal digits, eight at a time. A loop has a branch for each digit, and where numbers of one and
// of two digits take turns, guessing it wrong costs more than all the rest.
namespace headwater {

// So many bytes behind a text may be read by the functions below; what they are does not matter.
inline constexpr std::size_t kReadBehind = 8;

// Eight bytes of text, of which the first is the lowest. Digits are 0 to 9, everything else is
// more.
struct EightBytes {
  std::uint64_t bits;
};

inline EightBytes load_eight(const char* first) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, first, sizeof bits);
  if constexpr (std::endian::native == std::endian::big) bits = __builtin_bswap64(bits);
  return {bits ^ 0x3030303030303030};
}

// The top bit of each byte that is not a digit.
inline std::uint64_t find_others(EightBytes bytes) {
  const std::uint64_t low_bits = bytes.bits & 0x7f7f7f7f7f7f7f7f;
  return ((low_bits + 0x7676767676767676) | bytes.bits) & 0x8080808080808080;
}

// Where the first of those is; 8 when there is none.
inline std::size_t first_of(std::uint64_t others) {
  return static_cast<std::size_t>(std::countr_zero(others)) / 8;
}

// The number that the first `count` bytes are, 1 to 8 digits.
inline std::uint64_t value_of(EightBytes bytes, std::size_t count) {
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  std::uint64_t bits = bytes.bits << (64 - 8 * count);  // to the end, with zeros before it
  bits = 10 * bits + (bits >> 8);                       // neighbours become pairs
  return ((bits & kPairs) * (100 + (std::uint64_t{1000000} << 32)) +
          ((bits >> 16) & kPairs) * (1 + (std::uint64_t{10000} << 32))) >>
         32;
}

struct Digits {
  std::uint64_t value;
  std::size_t count;  // 0 to 8
};

// The digits that the text begins with, the first 8 if there are more.
inline Digits read_digits(const char* first, const char* last) {
  const EightBytes bytes = load_eight(first);
  const std::size_t count = first_of(find_others(bytes));
  const auto length = static_cast<std::size_t>(last - first);
  const std::size_t bounded = count < length ? count : length;
  if (bounded == 0) return {0, 0};
  return {value_of(bytes, bounded), bounded};
}

}  // namespace headwater
