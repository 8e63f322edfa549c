#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Parses decimal digits eight at a time. A loop over digits has a branch for each digit; if numbers
// of one and two digits alternate, mispredicted branches cost more than all the rest.
namespace headwater {

// The functions below may read this many bytes after the end of a text. Their values do not matter.
inline constexpr std::size_t kReadBehind = 8;

// Eight bytes of text, the first one in the lowest bits, each XORed with '0': digits become 0 to 9,
// all other characters become larger values.
struct EightBytes {
  std::uint64_t bits;
};

inline EightBytes load_eight(const char* first) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, first, sizeof bits);
  if constexpr (std::endian::native == std::endian::big) bits = __builtin_bswap64(bits);
  return {bits ^ 0x3030303030303030};
}

// Sets the top bit of each byte that is not a digit.
inline std::uint64_t find_others(EightBytes bytes) {
  const std::uint64_t low_bits = bytes.bits & 0x7f7f7f7f7f7f7f7f;
  return ((low_bits + 0x7676767676767676) | bytes.bits) & 0x8080808080808080;
}

// The index of the first byte whose top bit is set; 8 if there is none.
inline std::size_t first_of(std::uint64_t others) {
  return static_cast<std::size_t>(std::countr_zero(others)) / 8;
}

// The value of the first `count` bytes, which must be 1 to 8 digits.
inline std::uint64_t value_of(EightBytes bytes, std::size_t count) {
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  std::uint64_t bits = bytes.bits << (64 - 8 * count);  // shifted up, with leading zeros
  bits = 10 * bits + (bits >> 8);                       // combine neighbours into pairs
  return ((bits & kPairs) * (100 + (std::uint64_t{1000000} << 32)) +
          ((bits >> 16) & kPairs) * (1 + (std::uint64_t{10000} << 32))) >>
         32;
}

struct Digits {
  std::uint64_t value;
  std::size_t count;  // 0 to 8
};

// The digits at the beginning of the text, at most 8.
inline Digits read_digits(const char* first, const char* last) {
  const EightBytes bytes = load_eight(first);
  const std::size_t count = first_of(find_others(bytes));
  const auto length = static_cast<std::size_t>(last - first);
  const std::size_t bounded = count < length ? count : length;
  if (bounded == 0) return {0, 0};
  return {value_of(bytes, bounded), bounded};
}

}  // namespace headwater
