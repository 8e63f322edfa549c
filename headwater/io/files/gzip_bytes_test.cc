#include "headwater/io/files/gzip_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

// "to be or not to be or to be\n", compressed by gzip.
constexpr std::string_view kCompressed(
    "\x1f\x8b\x08\0\0\0\0\0\x02\xff\x2b\xc9\x57\x48\x4a\x55\xc8\x2f\x52\xc8\xcb\x2f\x51\x28"
    "\x81\x71\xc0\x0c\x2e\0\x47\x17\x7c\x3d\x1c\0\0\0",
    38);

class GzipTest : public testing::Test {
 protected:
  std::string read(std::string_view compressed, std::size_t space_size = 7) const {
    GzipBytes bytes(open(compressed));
    std::string text;
    std::vector<char> space(space_size);
    while (const std::size_t count = bytes.read(space)) text.append(space.data(), count);
    EXPECT_EQ(bytes.read(space), 0u);
    return text;
  }

  std::unique_ptr<ByteSource> open(std::string_view compressed) const {
    return std::make_unique<FileBytes>(open_for_reading(folder_.write("a.gz", compressed)), "a.gz");
  }

  std::string trouble_with(std::string_view compressed) const {
    return message_of<DamagedBytes>([&] { read(compressed); });
  }

  TestFolder folder_;
};

TEST_F(GzipTest, Decompresses) {
  EXPECT_EQ(read(kCompressed), "to be or not to be or to be\n");
  EXPECT_EQ(read(gzip_of("")), "");
  EXPECT_EQ(read(gzip_of("some bytes")), "some bytes");
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i);
  for (const std::size_t size : {1000, 1 << 18}) EXPECT_EQ(read(gzip_of(text), size), text);
}

TEST_F(GzipTest, ReadsPiecesOneBehindTheOther) {
  EXPECT_EQ(read(gzip_of("one") + gzip_of("") + gzip_of("two")), "onetwo");
  EXPECT_EQ(read(gzip_of("one") + std::string(1000, '\0')), "one");
  EXPECT_EQ(read(gzip_of("one") + std::string(1000, '\0') + gzip_of("two")), "onetwo");
}

TEST_F(GzipTest, SaysWhatIsWrong) {
  const std::string good = gzip_of("some bytes");
  EXPECT_EQ(trouble_with(""), "is not compressed by gzip");
  EXPECT_EQ(trouble_with("1,2\n3,4\n"), "is not compressed by gzip");
  EXPECT_EQ(trouble_with(good + "1,2\n"), "the compressed data are damaged");
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_EQ(trouble_with(good.substr(0, size)), "the compressed data are cut off") << size;
  }
  std::string other = good;
  other[good.size() - 10] ^= 1;  // the last letter but one
  EXPECT_EQ(trouble_with(other), "the compressed data are damaged");
}

TEST_F(GzipTest, HandsOutWhatCameBeforeTheDamage) {
  const std::string good = gzip_of(std::string(100000, 'x'));
  GzipBytes bytes(open(good.substr(0, good.size() - 9)));
  std::vector<char> space(30000);
  std::size_t size = 0;
  EXPECT_EQ(message_of<DamagedBytes>([&] {
              for (;;) size += bytes.read(space);
            }),
            "the compressed data are cut off");
  EXPECT_EQ(size, 99999u);
}

TEST_F(GzipTest, HoldsNothingBack) {
  TestPipe pipe;
  GzipBytes bytes(std::make_unique<FileBytes>(std::move(pipe.reading), "pipe"));
  const std::string compressed = gzip_of("some bytes");
  std::array<char, 100> space = {};
  write_all(pipe.writing, compressed.substr(0, 20), "pipe");
  EXPECT_EQ(bytes.read(space), 5u);  // after the file's header of 10 bytes and the block's of 5
  write_all(pipe.writing, compressed.substr(20), "pipe");
  EXPECT_EQ(bytes.read(space), 5u);
}

TEST_F(GzipTest, KnowsHowMuchOfTheFileIsRead) {
  GzipBytes bytes(open(gzip_of(std::string(200000, 'x'))));
  EXPECT_EQ(bytes.fraction_used(0), 0.0);
  std::vector<char> space(100000);
  std::size_t size = 0;
  while (size < 200000) size += bytes.read(space);
  EXPECT_NEAR(bytes.fraction_used(0).value(), 1, 1e-3);
  EXPECT_NEAR(bytes.fraction_used(100000).value(), 0.5, 1e-3);
}

TEST_F(GzipTest, StopsWithoutAComplaint) {
  const std::string name = folder_.write("a.gz", gzip_of("some bytes").substr(0, 20));
  GzipBytes bytes(std::make_unique<FileBytes>(
      open_for_reading(name), name,
      WaitingRules{.follow = true, .should_stop = [] { return true; }}));
  std::array<char, 100> space = {};
  EXPECT_EQ(bytes.read(space), 5u);
  EXPECT_EQ(bytes.read(space), 0u);
  EXPECT_TRUE(bytes.was_stopped());
}

}  // namespace
}  // namespace headwater
