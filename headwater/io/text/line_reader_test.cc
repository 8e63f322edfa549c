#include "headwater/io/text/line_reader.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/files/gzip_bytes.hpp"
#include "headwater/io/test_support.hpp"
#include "headwater/io/text/digits.hpp"

namespace headwater {
namespace {

using Lines = std::vector<std::string>;

Lines read_lines(const std::string& name, LineLimits limits = {}) {
  LineReader reader(open_for_reading(name), name, limits);
  Lines lines;
  while (const auto line = reader.next()) lines.emplace_back(*line);
  EXPECT_EQ(reader.line_number(), static_cast<std::int64_t>(lines.size()));
  EXPECT_FALSE(reader.next());
  return lines;
}

TEST(LineReader, SplitsLines) {
  const TestFolder folder;
  EXPECT_EQ(read_lines(folder.write("a", "")), Lines());
  EXPECT_EQ(read_lines(folder.write("b", "\n")), Lines({""}));
  EXPECT_EQ(read_lines(folder.write("c", "one\ntwo\n")), Lines({"one", "two"}));
  EXPECT_EQ(read_lines(folder.write("d", "one\n\ntwo")), Lines({"one", "", "two"}));
  EXPECT_EQ(read_lines(folder.write("e", "one\r\ntwo\r\n\r\n")), Lines({"one", "two", ""}));
  EXPECT_EQ(read_lines(folder.write("f", "a\rb\r")), Lines({"a\rb"}));
}

TEST(LineReader, PiecesOfAnySizeGiveTheSameLines) {
  const TestFolder folder;
  const std::string text = "first\r\nsecond line\n\n" + std::string(50, 'x') + "\nlast";
  const std::string name = folder.write("a", text);
  const Lines expected = {"first", "second line", "", std::string(50, 'x'), "last"};
  for (std::size_t size = 1; size <= text.size() + 1; ++size) {
    EXPECT_EQ(read_lines(name, {.read_size = size}), expected) << size;
  }
}

TEST(LineReader, RefusesLinesBeyondTheLimit) {
  const TestFolder folder;
  const std::string name = folder.write("a.csv", "short\n" + std::string(100, 'x'));
  const LineLimits limits = {.read_size = 8, .longest_line = 64};
  EXPECT_EQ(folder.shorten(message_of([&] { read_lines(name, limits); })),
            "a.csv:2: the line is longer than 64 bytes");
}

TEST(LineReader, GoesOnBehindALineBeyondTheLimit) {
  const TestFolder folder;
  const std::string long_line(1000, 'x');
  const std::string text = "one\n" + long_line + "\nthree\n" + long_line;
  const LineLimits limits = {.read_size = 8, .longest_line = 64};
  LineReader reader(open_for_reading(folder.write("a", text)), "a.csv", limits);
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(message_of<BadRow>([&] { reader.next(); }),
            "a.csv:2: the line is longer than 64 bytes");
  EXPECT_EQ(reader.next(), "three");
  EXPECT_EQ(reader.line_number(), 3);
  EXPECT_EQ(message_of<BadRow>([&] { reader.next(); }),
            "a.csv:4: the line is longer than 64 bytes");
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(LineReader, LeavesOutAByteOrderMark) {
  const TestFolder folder;
  EXPECT_EQ(read_lines(folder.write("a", "\xef\xbb\xbfone\n\xef\xbb\xbftwo\n")),
            Lines({"one", "\xef\xbb\xbftwo"}));
}

// Even if the line ends at the end of the buffer.
TEST(LineReader, MoreBytesCanBeReadBehindALine) {
  const TestFolder folder;
  const std::string name = folder.write("a", "1234567812345678");
  for (const std::size_t read_size : {4, 16}) {
    LineReader reader(open_for_reading(name), name, {.read_size = read_size});
    const std::string_view line = reader.next().value();
    EXPECT_EQ(read_digits(line.end(), line.end()).count, 0u);
  }
}

TEST(LineReader, SaysBehindWhichLineBytesAreDamaged) {
  const TestFolder folder;
  const auto trouble = [&](const std::string& bytes) {
    auto file = std::make_unique<FileBytes>(open_for_reading(folder.write("a", bytes)), "a");
    LineReader reader(std::make_unique<GzipBytes>(std::move(file)), "a.csv.gz");
    const std::string message = message_of([&] {
      while (reader.next()) continue;
    });
    EXPECT_EQ(reader.next(), std::nullopt);
    return message;
  };
  const std::string whole = gzip_of("one\ntwo\nthree\n");
  EXPECT_EQ(trouble(whole.substr(0, whole.size() - 10)),
            "a.csv.gz: the compressed data are cut off after line 2");
  EXPECT_EQ(trouble("text"), "a.csv.gz: is not compressed by gzip");
}

TEST(LineReader, LeavesHalfALineOfAFileThatItStopsFollowing) {
  const TestFolder folder;
  const std::string name = folder.write("a", "one\ntw");
  int num_asked = 0;
  const auto should_stop = [&] {
    if (++num_asked == 1) std::ofstream(name, std::ios::app) << "o\nthr";
    return num_asked == 3;
  };
  LineReader reader(
      std::make_unique<FileBytes>(open_for_reading(name), name,
                                  WaitingRules{.follow = true, .should_stop = should_stop}),
      name);
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(reader.next(), "two");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.line_number(), 2);
}

TEST(LineReader, KnowsHowMuchOfAFileIsRead) {
  const TestFolder folder;
  LineReader reader(open_for_reading(folder.write("a", "12\n45678\n")), "a");
  EXPECT_EQ(reader.fraction_read(), 0.0);
  reader.next();
  EXPECT_DOUBLE_EQ(reader.fraction_read().value(), 3.0 / 9.0);
  reader.next();
  EXPECT_EQ(reader.fraction_read(), 1.0);
}

TEST(LineReader, CountsFromWhereTheFileStands) {
  const TestFolder folder;
  FileDescriptor file = open_for_reading(folder.write("a", "12\n45678\n"));
  std::array<char, 3> skipped = {};
  read_some(file, skipped, "a");
  LineReader reader(std::move(file), "a");
  EXPECT_DOUBLE_EQ(reader.fraction_read().value(), 3.0 / 9.0);
  EXPECT_EQ(reader.next(), "45678");
  EXPECT_EQ(reader.fraction_read(), 1.0);
}

TEST(LineReader, DoesNotKnowHowLongAPipeIs) {
  TestPipe pipe;
  const LineReader reader(std::move(pipe.reading), "pipe");
  EXPECT_EQ(reader.fraction_read(), std::nullopt);
}

TEST(LineReader, HandsOutALineBeforeTheNextOneHasEnded) {
  TestPipe pipe;
  LineReader reader(std::move(pipe.reading), "pipe");
  write_all(pipe.writing, "one\ntw", "pipe");
  EXPECT_EQ(reader.next(), "one");
  write_all(pipe.writing, "o\n", "pipe");
  EXPECT_EQ(reader.next(), "two");
}

TEST(LineReader, RefusesTheCutOffEndOfAPipe) {
  TestPipe pipe;
  write_all(pipe.writing, "one\ntw", "pipe");
  pipe.writing = FileDescriptor(-1);
  LineReader reader(std::move(pipe.reading), "pipe");
  EXPECT_EQ(reader.next(), "one");
  EXPECT_THROW(reader.next(), BadRow);
  EXPECT_EQ(reader.unread(true), "");  // no other line can complete it
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(LineReader, KnowsWhatItHasReadAheadOfAPipe) {
  TestPipe pipe;
  write_all(pipe.writing, "one\ntwo\nthr", "pipe");
  LineReader reader(std::move(pipe.reading), "pipe");
  EXPECT_EQ(reader.unread(false), "");
  reader.next();
  EXPECT_EQ(reader.unread(false), "two\nthr");
  EXPECT_EQ(reader.unread(true), "one\ntwo\nthr");
  reader.next();
  EXPECT_EQ(reader.unread(false), "thr");
  EXPECT_EQ(reader.unread(true), "two\nthr");
  const TestFolder folder;
  LineReader file(open_for_reading(folder.write("a", "one\ntwo\n")), "a");
  file.next();
  EXPECT_EQ(file.unread(true), "");  // can be read again
}

}  // namespace
}  // namespace headwater
