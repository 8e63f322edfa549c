#include "headwater/io/source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>

#include "headwater/io/sink.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

class SourceTest : public testing::Test {
 protected:
  std::string trouble_opening(std::string_view name) const {
    return folder_.shorten(message_of([&] { open_source(folder_.path(name)); }));
  }
  std::string trouble_reading(std::string_view name) const {
    return folder_.shorten(message_of([&] { read_matrix(folder_.path(name)); }));
  }

  TestFolder folder_;
};

// Stands in for standard input as long as it lives.
class StandardInput {
 public:
  explicit StandardInput(std::string_view text) : before_(duplicate(STDIN_FILENO, "stdin")) {
    const TestPipe pipe;
    write_all(pipe.writing, text, "pipe");
    dup2(pipe.reading.number(), STDIN_FILENO);
  }
  ~StandardInput() { dup2(before_.number(), STDIN_FILENO); }

 private:
  FileDescriptor before_;
};

TEST_F(SourceTest, ChoosesTheFormatByName) {
  RowMatrix expected(2, 2);
  expected << 1, 2, 3, 4;
  folder_.write("a.csv", "1,2\n3,4\n");
  folder_.write("a.tsv", "x\ty\n1\t2\n3\t4\n");
  const auto sink = create_sink(folder_.path("a.npy"));
  for (Index i = 0; i < 2; ++i) sink->write_row({expected.row(i).data(), 2});
  sink->commit();
  for (const char* name : {"a.csv", "a.tsv", "a.npy"}) {
    EXPECT_EQ(read_matrix(folder_.path(name)), expected) << name;
    EXPECT_EQ(open_source(folder_.path(name))->num_channels(), 2) << name;
  }
}

TEST_F(SourceTest, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(trouble_opening("weights.xyz"),
            "weights.xyz: unknown kind of file; expected .csv, .tsv or .npy");
  for (const char* name : {"counts.csv", "counts.tsv", "counts.npy"}) {
    EXPECT_EQ(trouble_opening(name),
              std::string(name) + ": cannot be opened: No such file or directory");
    mkdir(folder_.path(name).c_str(), 0777);
    EXPECT_EQ(trouble_opening(name), std::string(name) + ": cannot be opened: Is a directory");
  }
}

TEST_F(SourceTest, ReadsStandardInput) {
  const StandardInput input("1,2\n3,\n");
  const auto source = open_source("-");
  std::vector<double> values;
  ASSERT_TRUE(source->next(values));
  EXPECT_EQ(values, std::vector<double>({1, 2}));
  ASSERT_TRUE(source->next(values));
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_FALSE(source->next(values));
  EXPECT_EQ(source->position(), "standard input:2");
  EXPECT_EQ(source->fraction_read(), std::nullopt);
}

TEST_F(SourceTest, CallsStandardInputByItsName) {
  const StandardInput input("1,2\n3,-1\n");
  EXPECT_EQ(message_of([] { read_matrix("-"); }),
            "standard input:2: column 2: '-1' is negative; entries must be 0 or more");
}

TEST_F(SourceTest, ReadsDevicesAsCsv) {
  EXPECT_EQ(message_of([] { open_source("/dev/null"); }), "/dev/null: holds no observations");
}

TEST_F(SourceTest, AMatrixHasNoMissingCells) {
  folder_.write("basis.csv", "1,2\n3,\n");
  EXPECT_EQ(trouble_reading("basis.csv"),
            "basis.csv:2: column 2: '' is missing; entries must all be given");
  const auto sink = create_sink(folder_.path("basis.npy"));
  sink->write_row(std::array{1.0, std::nan("")});
  sink->commit();
  EXPECT_EQ(trouble_reading("basis.npy"),
            "basis.npy: row 1, column 2: nan is missing; entries must all be given");
}

}  // namespace
}  // namespace headwater
