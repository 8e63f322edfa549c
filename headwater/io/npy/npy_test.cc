#include "headwater/io/npy/npy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using Rows = std::vector<std::vector<double>>;

// A file as numpy.save() writes it, without padding.
std::string make_file(std::string_view type, std::string_view shape, std::string_view data,
                      bool fortran_order = false) {
  std::string text = "{'descr': '" + std::string(type) + "', 'fortran_order': ";
  text += std::string(fortran_order ? "True" : "False") + ", 'shape': " + std::string(shape);
  text += ", }\n";
  std::string bytes = "\x93NUMPY";
  bytes += {'\1', '\0', static_cast<char>(text.size()), '\0'};
  return bytes.append(text).append(data);
}

std::string bytes_of(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Rows read_bytes(const std::string& bytes, const CellRules& rules = {}) {
  const TestFolder folder;
  NpySource source(folder.write("counts.npy", bytes), rules);
  Rows rows;
  std::vector<double> values;
  while (source.next(values)) rows.push_back(values);
  return rows;
}

std::string trouble_with_file(const std::string& bytes, const CellRules& rules = {}) {
  const std::string message = message_of([&] { read_bytes(bytes, rules); });
  return message.substr(message.find("counts.npy"));
}

TEST(Npy, ReadsBothOrders) {
  const std::string data = "\1\2\3\4\5\6";
  EXPECT_EQ(read_bytes(make_file("|u1", "(3, 2)", data)), Rows({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(read_bytes(make_file("|u1", "(3, 2)", data, true)), Rows({{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(read_bytes(make_file("<u2", "(1, 3)", data)), Rows({{0x201, 0x403, 0x605}}));
  EXPECT_EQ(read_bytes(make_file(">u2", "(1, 3)", data, true)), Rows({{0x102, 0x304, 0x506}}));
}

TEST(Npy, ReadsSomeColumnsAlone) {
  for (const bool fortran_order : {false, true}) {
    const TestFolder folder;
    const std::string data = fortran_order ? "\1\5\2\6\3\7\4\x80" : "\1\2\3\4\5\6\7\x80";
    NpySource source(folder.write("counts.npy", make_file("|i1", "(2, 4)", data, fortran_order)));
    ASSERT_TRUE(source.keep_columns(1, 3));
    EXPECT_EQ(source.num_channels(), 4);
    std::vector<double> values;
    ASSERT_TRUE(source.next(values));
    EXPECT_EQ(values, std::vector<double>({2, 3, 4}));
    const std::string trouble = message_of([&] { source.next(values); });
    EXPECT_NE(trouble.find("row 2, column 4: "), std::string::npos) << trouble;
  }
}

TEST(Npy, OneDimensionIsOneChannel) {
  for (const bool fortran_order : {false, true}) {
    EXPECT_EQ(read_bytes(make_file("|u1", "(3,)", "\1\2\3", fortran_order)), Rows({{1}, {2}, {3}}));
  }
}

TEST(Npy, NanIsMissingAndMinusZeroIsZero) {
  const Rows rows = read_bytes(make_file("<f8", "(1, 3)", bytes_of({std::nan("1"), -0.0, 2.5})));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(std::isnan(rows[0][0]));
  EXPECT_FALSE(std::signbit(rows[0][1]));
  EXPECT_EQ(rows[0][2], 2.5);
}

TEST(Npy, SaysWhatIsWrongWithAValue) {
  std::string data(17 * 3, '\1');
  data.back() = '\xff';
  EXPECT_EQ(trouble_with_file(make_file("|i1", "(17, 3)", data)),
            "counts.npy: row 17, column 3: -1 is negative; observations must be 0 or more");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(trouble_with_file(make_file("<f8", "(2, 1)", bytes_of({1, infinity}))),
            "counts.npy: row 2, column 1: inf is not finite; observations must be finite");
  EXPECT_EQ(trouble_with_file(make_file("<f8", "(1, 1)", bytes_of({std::nan("")})),
                              {.subject = "entries", .allow_missing = false}),
            "counts.npy: row 1, column 1: nan is missing; entries must all be given");
}

TEST(Npy, RefusesOtherTypes) {
  for (const std::string type : {"<c16", "|O", "<M8[ns]", "|S5"}) {
    EXPECT_EQ(trouble_with_file(make_file(type, "(1, 1)", "0123456789abcdef")),
              "counts.npy: holds values of type '" + type +
                  "'; expected b1, i1 to i8, u1 to u8, f2, f4 or f8");
  }
}

TEST(Npy, RefusesOtherShapes) {
  EXPECT_EQ(trouble_with_file(make_file("|u1", "(1, 2, 3, 1)", "123456")),
            "counts.npy: has 4 dimensions; expected 2, 1 for a single channel, or 3 for sequences");
  EXPECT_EQ(trouble_with_file(make_file("|u1", "()", "1")),
            "counts.npy: has 0 dimensions; expected 2, 1 for a single channel, or 3 for sequences");
  for (const char* shape : {"(0, 5)", "(5, 0)", "(0,)"}) {
    EXPECT_EQ(trouble_with_file(make_file("|u1", shape, "")), "counts.npy: holds no observations");
  }
}

TEST(Npy, RefusesFilesThatAreCutOff) {
  EXPECT_EQ(trouble_with_file(make_file("<f8", "(2, 3)", bytes_of({1, 2, 3}))),
            "counts.npy: is cut off; its shape (2, 3) needs 48 bytes, but 24 are there");
  EXPECT_EQ(trouble_with_file(make_file("<f8", "(1000000000000000, 1000000)", "")),
            "counts.npy: its shape (1000000000000000, 1000000) is too large");
  EXPECT_EQ(trouble_with_file(make_file("<f8", "(9223372036854775807,)", "")),
            "counts.npy: its shape (9223372036854775807) is too large");
  EXPECT_EQ(trouble_with_file(make_file("|u1", "(9223372036854775807,)", "1")),
            "counts.npy: is cut off; its shape (9223372036854775807) needs 9223372036854775807 "
            "bytes, but 1 are there");
  EXPECT_EQ(trouble_with_file("text"), "counts.npy: is not an NPY file");
  EXPECT_EQ(trouble_with_file(""), "counts.npy: is not an NPY file");
}

TEST(Npy, KnowsWhereItIs) {
  const TestFolder folder;
  NpySource source(folder.write("a.npy", make_file("|u1", "(4, 1)", "\1\2\3\4")));
  std::vector<double> values;
  EXPECT_EQ(source.num_channels(), 1);
  EXPECT_EQ(source.fraction_read(), 0.0);
  EXPECT_EQ(folder.shorten(source.position()), "a.npy");
  source.next(values);
  EXPECT_EQ(source.fraction_read(), 0.25);
  EXPECT_EQ(folder.shorten(source.position()), "a.npy: row 1");
}

}  // namespace
}  // namespace headwater
