#include "headwater/io/npy/npy_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace headwater {
namespace {

template <class T>
std::string bytes_of(T value) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  return {bytes.begin(), bytes.end()};
}

double load_one(const std::string& type, const std::string& bytes) {
  const NpyType found = find_npy_type(type);
  EXPECT_NE(found.load, nullptr) << type;
  EXPECT_EQ(found.item_size, bytes.size()) << type;
  double value = -1;
  found.load(bytes.data(), 0, {&value, 1});
  return value;
}

// Tests both byte orders, whichever the machine has.
template <class T>
void expect_loads(const std::string& type, T value) {
  std::string bytes = bytes_of(value);
  const auto expected = static_cast<double>(value);
  const bool is_little = std::endian::native == std::endian::little;
  EXPECT_EQ(load_one((is_little ? "<" : ">") + type, bytes), expected) << type;
  EXPECT_EQ(load_one("=" + type, bytes), expected) << type;
  std::reverse(bytes.begin(), bytes.end());
  EXPECT_EQ(load_one((is_little ? ">" : "<") + type, bytes), expected) << type;
}

TEST(NpyValues, LoadsEveryRealType) {
  expect_loads<std::int8_t>("i1", -100);
  expect_loads<std::int16_t>("i2", 0x1234);
  expect_loads<std::int32_t>("i4", -0x12345678);
  expect_loads<std::int64_t>("i8", 0x123456789abcd);
  expect_loads<std::uint8_t>("u1", 200);
  expect_loads<std::uint16_t>("u2", 0xfedc);
  expect_loads<std::uint32_t>("u4", 0xfedcba98);
  expect_loads<std::uint64_t>("u8", std::uint64_t{1} << 63);
  expect_loads<float>("f4", 0.1f);
  expect_loads<double>("f8", 0.1);
}

TEST(NpyValues, LoadsBytesWithoutOrder) {
  EXPECT_EQ(load_one("|u1", "\x7f"), 127.0);
  EXPECT_EQ(load_one("|i1", "\xff"), -1.0);
  EXPECT_EQ(load_one("|b1", std::string(1, '\0')), 0.0);
  EXPECT_EQ(load_one("|b1", "\1"), 1.0);
  EXPECT_EQ(load_one("|b1", "\7"), 1.0);
}

TEST(NpyValues, LoadsHalfPrecision) {
  const auto half = [](std::uint16_t bits) {
    return load_one("<f2", {static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)});
  };
  EXPECT_EQ(half(0x0000), 0.0);
  EXPECT_EQ(half(0x3c00), 1.0);
  EXPECT_EQ(half(0xc000), -2.0);
  EXPECT_EQ(half(0x3555), 0.333251953125);
  EXPECT_EQ(half(0x7bff), 65504.0);                  // the largest
  EXPECT_EQ(half(0x0400), std::ldexp(1.0, -14));     // the smallest normal number
  EXPECT_EQ(half(0x03ff), std::ldexp(1023.0, -24));  // the largest subnormal number
  EXPECT_EQ(half(0x0001), std::ldexp(1.0, -24));     // the smallest subnormal number
  EXPECT_EQ(half(0x7c00), std::numeric_limits<double>::infinity());
  EXPECT_EQ(half(0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(half(0x7e00)));
  EXPECT_EQ(load_one(">f2", {'\x3c', '\0'}), 1.0);
}

TEST(NpyValues, LoadsRowsWithAnyStride) {
  const std::string bytes = "x\1\2\3\4\5\6";
  std::array<double, 3> row = {};
  find_npy_type("|u1").load(bytes.data() + 1, 2, row);
  EXPECT_EQ(row, (std::array{1.0, 3.0, 5.0}));
}

TEST(NpyValues, KnowsNoOtherTypes) {
  for (const char* type : {"", "f8", "<c16", "<f16", "|O", "|S8", "<U5", "<M8[ns]", "<f3", "|f8",
                           "xf8", "<b2", "<x8", "|V8"}) {
    EXPECT_EQ(find_npy_type(type).load, nullptr) << type;
  }
}

}  // namespace
}  // namespace headwater
