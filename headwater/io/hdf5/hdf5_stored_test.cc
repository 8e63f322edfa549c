#include "headwater/io/hdf5/hdf5_stored.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

// A file written by h5py, with contents that Hdf5File does not write: /nul and /space are padded
// strings of fixed length, /one is an array of a single int8, /unsigned is the uint64 2^64 - 1,
// /single is a matrix of big-endian floats, /empty is a dataset without a dataspace, /dangling is a
// link to nothing. In hexadecimal; (n) stands for n zeros.
constexpr std::string_view kForeignFile =
    "894844460d0a1a0a030808(9)ffffffffffffffff9d07(6)30(7)5dacf9974f48445202203f10fa6a3f10fa6a3f1"
    "0fa6a3f10fa6a780212(4)ffffffffffffffffffffffffffffffff0a0200010000060e00000100036e756cc3(7)1"
    "01000001c06(6)45(7)060e00000100036f6e65e702(6)06130000010008756e7369676e6564f403(7)09(11)fe6"
    "5d8734f484452020106010104000002(3)030800011311000006(3)050200010309080a00000400060074657874("
    "3)da(220)426423af4f484452020106010104000002(3)030800011312000006(3)050200010309080a000004000"
    "60074657874202000da(220)3402b4984f48445202010101011400000201010101(7)01(7)030c00011008000001"
    "(5)080005020001030908050000040001000500c6(200)7d601e714f484452020108010104000002(3)030c00011"
    "0(3)08(5)4000050200010309080c000004000800ffffffffffffffff00d6(216)3c8ee4e34f4844520201080101"
    "2400000202010101(7)02(7)01(7)02(7)0314000111211f0004(5)2000170800177f(3)050200010309080c0000"
    "040008003fc0000040(4)ae(176)d75a15ce4f43484b101000006d07(6)30(7)0611000001000673696e676c6508"
    "05(6)061000000108010864616e676c696e6702002f785a6bc6db4f4844520201000101040000020000020314000"
    "111203f0008(5)4000340b0034ff0300000502000103090804000004(4)ce(208)882464684f43484b0610000001"
    "00057370616365d501(6)06100000010005656d7074796106(6)aad25aed";

std::string unpack(std::string_view packed) {
  std::string bytes;
  while (!packed.empty()) {
    const bool is_run = packed[0] == '(';
    const std::size_t length = is_run ? packed.find(')') + 1 : 2;
    const std::string token(packed.substr(is_run ? 1 : 0, length));
    if (is_run) {
      bytes.append(std::strtoul(token.c_str(), nullptr, 10), '\0');
    } else {
      bytes += static_cast<char>(std::strtoul(token.c_str(), nullptr, 16));
    }
    packed.remove_prefix(length);
  }
  return bytes;
}

class ForeignFileTest : public testing::Test {
 protected:
  template <class Call>
  std::string trouble_with(Call call) const {
    return folder_.shorten(message_of(call));
  }

  TestFolder folder_;
  Hdf5File file_ = Hdf5File::open(folder_.write("a.h5", unpack(kForeignFile)));
};

TEST_F(ForeignFileTest, ReadsStringsOfFixedLength) {
  EXPECT_EQ(file_.read_string("/nul"), "text");
  EXPECT_EQ(file_.read_string("/space"), "text");
}

TEST_F(ForeignFileTest, ReadsArraysOfOneAsNumbers) {
  EXPECT_EQ(file_.read_int("/one"), 5);
  EXPECT_EQ(file_.read_double("/one"), 5.0);
}

TEST_F(ForeignFileTest, ReadsOtherTypesOfNumbers) {
  Matrix expected(1, 2);
  expected << 1.5, 2;
  EXPECT_EQ(file_.read_matrix("/single"), expected);
}

TEST_F(ForeignFileTest, RefusesNumbersOutOfRange) {
  EXPECT_EQ(trouble_with([&] { file_.read_int("/unsigned"); }),
            "a.h5: /unsigned: is out of range; expected a whole number below 2^63");
}

TEST_F(ForeignFileTest, RefusesWhatIsEmpty) {
  EXPECT_EQ(trouble_with([&] { file_.read_double("/empty"); }), "a.h5: /empty: is empty");
  EXPECT_EQ(trouble_with([&] { file_.read_vector("/dangling"); }), "a.h5: /dangling: is missing");
  EXPECT_FALSE(file_.contains("/dangling"));
}

// Writes a small file with a matrix, then overwrites the matrix's number of rows.
std::string forge_rows(const TestFolder& folder, std::uint64_t num_rows) {
  auto file = Hdf5File::create(folder.path("a.h5"));
  file.write("/m", Matrix(Matrix::Ones(0x4321, 2)));
  file.commit();
  std::string bytes = folder.read("a.h5");
  const std::string shape("\x21\x43\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  const std::size_t at = bytes.find(shape);
  EXPECT_NE(at, bytes.npos);
  for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(num_rows >> (8 * i));
  return folder.write("b.h5", bytes);
}

TEST(Hdf5Stored, RefusesSizesThatTheFileCannotHold) {
  const TestFolder folder;
  for (const int bits : {28, 31, 40, 60}) {
    const auto file = Hdf5File::open(forge_rows(folder, std::uint64_t{1} << bits));
    EXPECT_EQ(folder.shorten(message_of([&] { file.read_matrix("/m"); })),
              "b.h5: /m: claims to hold more than the file can")
        << bits;
  }
}

TEST(Hdf5Stored, RefusesDataThatAreNotThere) {
  const TestFolder folder;
  const auto file = Hdf5File::open(forge_rows(folder, 0x43210));
  EXPECT_EQ(folder.shorten(message_of([&] { file.read_matrix("/m"); })),
            "b.h5: /m: cannot be read");
}

}  // namespace
}  // namespace headwater
