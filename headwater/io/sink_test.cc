#include "headwater/sink.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <utility>

#include "headwater/io/npy/npy_header.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using Names = std::vector<std::string>;

TEST(Sink, ChoosesTheFormatByName) {
  const TestFolder folder;
  for (const char* name : {"a.csv", "a.tsv", "a.npy"}) {
    const auto sink = create_sink(folder.path(name), {"x", "y"});
    sink->write_row(std::array{1.0, 2.0});
    sink->commit();
  }
  EXPECT_EQ(folder.read("a.csv"), "x,y\n1,2\n");
  EXPECT_EQ(folder.read("a.tsv"), "x\ty\n1\t2\n");
  EXPECT_TRUE(folder.read("a.npy").starts_with(format_npy_header(1, 2)));
}

TEST(Sink, RefusesOtherNames) {
  EXPECT_EQ(message_of([] { create_sink("out.xyz"); }),
            "out.xyz: unknown kind of file; expected .csv, .tsv or .npy");
}

TEST(Sink, FailsAtOnceWhenTheFolderIsMissing) {
  const TestFolder folder;
  for (const std::string name : {"no/out.csv", "no/out.tsv", "no/out.npy"}) {
    EXPECT_EQ(folder.shorten(message_of([&] { create_sink(folder.path(name)); })),
              name + ": cannot be written: No such file or directory");
  }
}

TEST(Sink, NothingAppearsBeforeCommit) {
  const TestFolder folder;
  for (const char* name : {"a.csv", "a.tsv", "a.npy"}) {
    const auto sink = create_sink(folder.path(name), {}, true);
    sink->write_row(std::array{1.0, 2.0});
    EXPECT_FALSE(std::filesystem::exists(folder.path(name)));
  }
  EXPECT_EQ(folder.list(), Names());
}

TEST(Sink, ADashIsStandardOutput) {
  testing::internal::CaptureStdout();
  const auto sink = create_sink("-", {"x"});
  sink->write_row(std::array{1.5});
  sink->commit();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "x\n1.5\n");
}

TEST(Sink, DevicesGetCsv) {
  const auto sink = create_sink("/dev/null");
  sink->write_row(std::array{1.5});
  sink->commit();
  const auto full = create_sink("/dev/full");
  full->write_row(std::array{1.5});
  EXPECT_EQ(message_of([&] { full->commit(); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST(Sink, SaysWhenNobodyReadsAPipe) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  TestPipe pipe;
  { const FileDescriptor closed = std::move(pipe.reading); }
  const std::string name = "/dev/fd/" + std::to_string(pipe.writing.number());
  const auto sink = create_sink(name, {}, true);
  EXPECT_EQ(message_of([&] { sink->write_row(std::array{1.0}); }),
            name + ": cannot be written: Broken pipe");
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace headwater
