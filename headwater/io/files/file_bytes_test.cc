#include "headwater/io/files/file_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

std::string read_all(ByteSource& bytes) {
  std::string text;
  std::array<char, 5> space = {};
  while (const std::size_t count = bytes.read(space)) text.append(space.data(), count);
  return text;
}

void append(const std::string& name, std::string_view text) {
  std::ofstream(name, std::ios::binary | std::ios::app) << text;
}

TEST(FileBytes, ReadsAFileToItsEnd) {
  const TestFolder folder;
  FileBytes bytes(open_for_reading(folder.write("a", "some bytes")), "a");
  EXPECT_TRUE(bytes.is_regular());
  EXPECT_EQ(bytes.fraction_used(0), 0.0);
  EXPECT_EQ(read_all(bytes), "some bytes");
  EXPECT_EQ(bytes.fraction_used(0), 1.0);
  EXPECT_EQ(bytes.fraction_used(4), 0.6);
  EXPECT_FALSE(bytes.was_stopped());
}

TEST(FileBytes, FollowsAFileThatGrows) {
  const TestFolder folder;
  const std::string name = folder.write("a", "one");
  int num_asked = 0;
  const auto should_stop = [&] {
    ++num_asked;
    if (num_asked == 2) append(name, "two");
    if (num_asked == 4) append(name, "three");
    return num_asked == 6;
  };
  FileBytes bytes(open_for_reading(name), "a", {.follow = true, .should_stop = should_stop});
  EXPECT_EQ(read_all(bytes), "onetwothree");
  EXPECT_TRUE(bytes.was_stopped());
  EXPECT_EQ(num_asked, 6);
  EXPECT_EQ(bytes.fraction_used(0), std::nullopt);
}

TEST(FileBytes, RefusesToFollowAFileThatShrinks) {
  const TestFolder folder;
  const std::string name = folder.write("a", "some bytes");
  const auto should_stop = [&] {
    std::filesystem::resize_file(name, 4);
    return false;
  };
  FileBytes bytes(open_for_reading(name), "a", {.follow = true, .should_stop = should_stop});
  EXPECT_EQ(message_of([&] { read_all(bytes); }),
            "a: shrank from 10 to 4 bytes while it was followed");
}

TEST(FileBytes, StopsWaitingForAPipe) {
  TestPipe pipe;
  std::atomic<bool> stop = false;
  FileBytes bytes(std::move(pipe.reading), "pipe", {.should_stop = [&] { return stop.load(); }});
  write_all(pipe.writing, "one", "pipe");
  std::array<char, 5> space = {};
  EXPECT_EQ(bytes.read(space), 3u);
  EXPECT_FALSE(bytes.was_stopped());
  std::thread stopper([&] { stop = true; });
  EXPECT_EQ(bytes.read(space), 0u);
  stopper.join();
  EXPECT_TRUE(bytes.was_stopped());
}

TEST(FileBytes, SeesThatAPipeIsClosed) {
  TestPipe pipe;
  FileBytes bytes(std::move(pipe.reading), "pipe", {.should_stop = [] { return false; }});
  EXPECT_FALSE(bytes.is_regular());
  write_all(pipe.writing, "one", "pipe");
  pipe.writing = FileDescriptor();
  EXPECT_EQ(read_all(bytes), "one");
  EXPECT_FALSE(bytes.was_stopped());
}

TEST(FileBytes, FollowsAFileThatTakesTheName) {
  const TestFolder folder;
  const std::string name = folder.write("a", "old");
  int num_asked = 0;
  const auto should_stop = [&] {
    ++num_asked;
    if (num_asked == 2) std::filesystem::rename(name, folder.path("b"));  // nothing has the name
    if (num_asked == 3) folder.write("a", "new");
    return num_asked == 5;
  };
  FileBytes bytes(open_for_reading(name), "a",
                  {.follow = true, .path = name, .should_stop = should_stop});
  EXPECT_EQ(read_all(bytes), "oldnew");
  EXPECT_EQ(bytes.num_replaced(), 1);
  EXPECT_TRUE(bytes.was_stopped());
}

}  // namespace
}  // namespace headwater
