#include "headwater/io/npy/npy_header.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using Shape = std::vector<std::int64_t>;

// A header as NumPy writes it, without padding.
std::string make_header(std::string_view text, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0', static_cast<char>(text.size()), '\0'};
  if (version > 1) bytes += {'\0', '\0'};
  return bytes.append(text);
}

NpyHeader parse(std::string_view bytes) { return parse_npy_header(bytes, "a.npy"); }

std::string trouble_with(std::string_view bytes) {
  return message_of([&] { parse(bytes); });
}

TEST(NpyHeader, ReadsWhatNumpyWrites) {
  for (const int version : {1, 2, 3}) {
    const std::string bytes =
        make_header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }     \n", version);
    const NpyHeader header = parse(bytes + "data");
    EXPECT_EQ(header.type, "<f8");
    EXPECT_FALSE(header.fortran_order);
    EXPECT_EQ(header.shape, Shape({3, 4}));
    EXPECT_EQ(header.data_offset, bytes.size());
  }
}

TEST(NpyHeader, ReadsWhatOthersWrite) {
  const NpyHeader header =
      parse(make_header("{\"shape\":(3L,),\"fortran_order\":True,\"descr\":\">i2\"}"));
  EXPECT_EQ(header.type, ">i2");
  EXPECT_TRUE(header.fortran_order);
  EXPECT_EQ(header.shape, Shape({3}));
  EXPECT_EQ(parse(make_header("{'descr': '<f8', 'fortran_order': False, 'shape': ()}")).shape,
            Shape());
}

TEST(NpyHeader, RefusesOtherFiles) {
  EXPECT_EQ(trouble_with(""), "a.npy: is not an NPY file");
  EXPECT_EQ(trouble_with("1,2,3\n"), "a.npy: is not an NPY file");
  EXPECT_EQ(trouble_with(make_header("{}", 9)), "a.npy: is of NPY version 9; expected 1, 2 or 3");
}

TEST(NpyHeader, RefusesEveryCutOffHeader) {
  for (const int version : {1, 2}) {
    const std::string bytes =
        make_header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n", version);
    for (std::size_t size = 6; size < bytes.size(); ++size) {
      EXPECT_EQ(trouble_with(bytes.substr(0, size)), "a.npy: is cut off within its header") << size;
    }
  }
}

TEST(NpyHeader, RefusesRecords) {
  EXPECT_EQ(trouble_with(
                make_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }")),
            "a.npy: holds records; expected one number a cell");
}

TEST(NpyHeader, RefusesNonsense) {
  for (const char* text : {
           "",
           "{",
           "{}",
           "{'descr': '<f8'}",
           "nonsense",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), ",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)} {",
           "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3, 4)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (3, -4)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (3, x)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (3 4)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f8', 'fortran_order': False, 'form': (3, 4)}",
           "{'descr': '<f8', 'fortran_order' False, 'shape': (3, 4)}",
           "{'descr': '<f8, }",
       }) {
    EXPECT_EQ(trouble_with(make_header(text)), "a.npy: its header is damaged") << text;
  }
}

TEST(NpyHeader, OursAlwaysTakesTheSameSpace) {
  const auto largest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{12}, largest}) {
    const std::string bytes = format_npy_header(size, size);
    EXPECT_EQ(bytes.size(), kNpyHeaderSize);
    EXPECT_EQ(bytes.back(), '\n');
    const NpyHeader header = parse(bytes);
    EXPECT_EQ(header.type, "<f8");
    EXPECT_FALSE(header.fortran_order);
    EXPECT_EQ(header.shape, Shape({size, size}));
    EXPECT_EQ(header.data_offset, kNpyHeaderSize);
  }
}

}  // namespace
}  // namespace headwater
