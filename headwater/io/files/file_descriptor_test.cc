#include "headwater/io/files/file_descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

bool is_open(int number) { return fcntl(number, F_GETFD) != -1; }

TEST(FileDescriptor, ClosesItsFile) {
  const TestFolder folder;
  const std::string name = folder.write("a", "text");
  int number = -1;
  {
    const FileDescriptor file = open_for_reading(name);
    number = file.number();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FileDescriptor, MovingHandsTheFileOver) {
  const TestFolder folder;
  FileDescriptor first = open_for_reading(folder.write("a", "text"));
  const int number = first.number();
  FileDescriptor second = std::move(first);
  EXPECT_EQ(second.number(), number);
  FileDescriptor third;
  third = std::move(second);
  EXPECT_EQ(third.number(), number);
  EXPECT_TRUE(is_open(number));
}

TEST(FileDescriptor, SaysWhyAFileCannotBeOpened) {
  const TestFolder folder;
  const auto open = [&](const std::string& name) {
    return folder.shorten(message_of([&] { open_for_reading(folder.path(name)); }));
  };
  EXPECT_EQ(open("counts.csv"), "counts.csv: cannot be opened: No such file or directory");
  mkdir(folder.path("d.csv").c_str(), 0777);
  EXPECT_EQ(open("d.csv"), "d.csv: cannot be opened: Is a directory");
}

TEST(FileDescriptor, DuplicatesOnlyWhatIsOpen) {
  EXPECT_EQ(message_of([] { duplicate(-1, "standard input"); }),
            "standard input: cannot be opened: Bad file descriptor");
}

TEST(FileDescriptor, ReadsWhatWasWritten) {
  TestPipe pipe;
  write_all(pipe.writing, "hello", "pipe");
  std::array<char, 16> space = {};
  EXPECT_EQ(read_some(pipe.reading, space, "pipe"), 5u);
  EXPECT_EQ(std::string_view(space.data(), 5), "hello");
}

TEST(FileDescriptor, GivesZeroAtTheEnd) {
  TestPipe pipe;
  { const FileDescriptor closed = std::move(pipe.writing); }
  std::array<char, 16> space = {};
  EXPECT_EQ(read_some(pipe.reading, space, "pipe"), 0u);
}

TEST(FileDescriptor, WaitsForNonBlockingPipes) {
  TestPipe pipe;
  fcntl(pipe.reading.number(), F_SETFL, O_NONBLOCK);
  fcntl(pipe.writing.number(), F_SETFL, O_NONBLOCK);
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  std::thread writer([&] { write_all(pipe.writing, text, "pipe"); });
  std::string received;
  std::array<char, 4096> space = {};
  while (received.size() < text.size()) {
    received.append(space.data(), read_some(pipe.reading, space, "pipe"));
  }
  writer.join();
  EXPECT_EQ(received, text);
}

TEST(FileDescriptor, SaysWhyAFileCannotBeWritten) {
  const FileDescriptor full(open("/dev/full", O_WRONLY));
  EXPECT_EQ(message_of([&] { write_all(full, "text", "out.csv"); }),
            "out.csv: cannot be written: No space left on device");
}

TEST(FileDescriptor, SaysWhyAFileCannotBeRead) {
  const FileDescriptor write_only(open("/dev/null", O_WRONLY));
  std::array<char, 4> space = {};
  EXPECT_EQ(message_of([&] { read_some(write_only, space, "counts.csv"); }),
            "counts.csv: cannot be read: Bad file descriptor");
}

}  // namespace
}  // namespace headwater
