#include "headwater/io/files/file_sink.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using Names = std::vector<std::string>;

// Writes the length of each row.
class WidthSink final : public FileSink {
 public:
  using FileSink::FileSink;

  // The bytes written so far; the file may not have a name yet.
  std::string written() const {
    std::ifstream read("/proc/self/fd/" + std::to_string(file().descriptor().number()));
    return {std::istreambuf_iterator<char>(read), {}};
  }

 private:
  void append_row(std::span<const double> row, std::string& bytes) override {
    bytes += std::to_string(row.size()) + " ";
  }
  void complete(AtomicFile& file) override {
    file.write(std::to_string(num_rows()) + " rows of " + std::to_string(num_columns()));
  }
};

TEST(FileSink, CompletesTheFileBehindItsRows) {
  const TestFolder folder;
  WidthSink sink(folder.path("out"), false);
  sink.write_row(std::array{1.0, 2.0});
  sink.write_row(std::array{1.0, 2.0});
  sink.commit();
  EXPECT_EQ(folder.read("out"), "2 2 2 rows of 2");
}

TEST(FileSink, LeavesNothingBehindWithoutCommit) {
  const TestFolder folder;
  {
    WidthSink sink(folder.path("out"), true);
    sink.write_row(std::array{1.0});
  }
  EXPECT_EQ(folder.list(), Names());
}

TEST(FileSink, RowsAreAsWideAsTheFirst) {
  const TestFolder folder;
  WidthSink sink(folder.path("out"), false);
  sink.write_row(std::array{1.0, 2.0});
  EXPECT_EQ(folder.shorten(message_of<UsageError>([&] { sink.write_row(std::array{1.0}); })),
            "out: row 2 has 1 values where 2 were expected");
}

TEST(FileSink, FlushesEachRowWhenAsked) {
  const TestFolder folder;
  for (const bool flush_each_row : {false, true}) {
    WidthSink sink(folder.path("out"), flush_each_row);
    sink.write_row(std::array{1.0});
    EXPECT_EQ(sink.written(), flush_each_row ? "1 " : "");
  }
}

TEST(FileSink, DoesNotGatherForEver) {
  const TestFolder folder;
  WidthSink sink(folder.path("out"), false);
  for (int i = 0; i < 40000; ++i) sink.write_row(std::array{1.0});
  EXPECT_GE(sink.written().size(), 65536u);
}

TEST(FileSink, SaysWhyRowsCannotBeWritten) {
  WidthSink sink("/dev/full", true);
  EXPECT_EQ(message_of([&] { sink.write_row(std::array{1.0}); }),
            "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace headwater
