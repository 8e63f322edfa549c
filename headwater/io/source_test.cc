#include "headwater/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>

#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/test_support.hpp"
#include "headwater/sink.hpp"

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

// Replaces standard input during its lifetime.
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
  const std::string csv = "1,2\n3,0\n";
  const std::string json = "[1,2]\n{\"y\":[3,0]}\n";
  const std::string mtx =
      "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 3\n1 2 2\n";
  RowMatrix expected(2, 2);
  expected << 1, 2, 3, 0;
  for (const char* name : {"a.csv", "A.CSV"}) folder_.write(name, csv);
  folder_.write("a.tsv", "x\ty\n1\t2\n3\t0\n");
  for (const char* name : {"a.jsonl", "a.ndjson"}) folder_.write(name, json);
  folder_.write("a.mtx", mtx);
  folder_.write("a.csv.gz", gzip_of(csv));
  folder_.write("a.jsonl.gz", gzip_of(json));
  folder_.write("A.MTX.GZ", gzip_of(mtx));
  const auto sink = create_sink(folder_.path("a.npy"));
  for (Index i = 0; i < 2; ++i) sink->write_row({expected.row(i).data(), 2});
  sink->commit();
  Hdf5File file = Hdf5File::create(folder_.path("a.h5"));
  file.write("/group/x", expected);
  file.commit();
  for (const char* name : {"a.csv", "A.CSV", "a.tsv", "a.jsonl", "a.ndjson", "a.mtx", "a.npy",
                           "a.csv.gz", "a.jsonl.gz", "A.MTX.GZ", "a.h5:/group/x"}) {
    EXPECT_EQ(read_matrix(folder_.path(name)), expected) << name;
    EXPECT_EQ(open_source(folder_.path(name))->num_channels(), 2) << name;
  }
}

TEST_F(SourceTest, TakesTheFormatItIsTold) {
  const auto read = [&](std::string_view text, DataFormat format) {
    return read_rows(*open_source(folder_.write("a.txt", text), {.format = format}));
  };
  EXPECT_EQ(read("1,2\n", DataFormat::csv), Rows({{1, 2}}));
  EXPECT_EQ(read("1\t2\n", DataFormat::tsv), Rows({{1, 2}}));
  EXPECT_EQ(read("[1,2]\n", DataFormat::json_lines), Rows({{1, 2}}));
  EXPECT_EQ(
      read("%%MatrixMarket matrix array real general\n1 2\n1\n2\n", DataFormat::matrix_market),
      Rows({{1, 2}}));
  EXPECT_EQ(read_rows(*open_source(folder_.write("a.gz", gzip_of("[1,2]\n")),
                                   {.format = DataFormat::json_lines})),
            Rows({{1, 2}}));
  EXPECT_EQ(message_of([&] { read("1,2\n", DataFormat::npy); }).substr(folder_.path("").size()),
            "a.txt: is not an NPY file");
}

TEST_F(SourceTest, SaysWhyAFileCannotBeOpened) {
  for (const std::string name : {"weights.xyz", "weights", "weights.gz", "weights.xyz.gz"}) {
    EXPECT_EQ(trouble_opening(name),
              name +
                  ": unknown kind of file; expected .csv, .tsv, .jsonl, .mtx "
                  "(each also with .gz), .npy or FILE.h5:/DATASET");
  }
  for (const char* name : {"counts.csv", "counts.tsv", "counts.npy", "counts.jsonl", "counts.mtx",
                           "counts.csv.gz", "counts.h5"}) {
    EXPECT_EQ(trouble_opening(name),
              std::string(name) + ": cannot be opened: No such file or directory");
    mkdir(folder_.path(name).c_str(), 0777);
    EXPECT_EQ(trouble_opening(name), std::string(name) + ": cannot be opened: Is a directory");
  }
  EXPECT_EQ(trouble_opening("counts.h5:/x"), "counts.h5: cannot be opened: Is a directory");
}

TEST_F(SourceTest, NpyNeedsAPlainFile) {
  EXPECT_EQ(message_of<UsageError>([] { open_source("a.npy.gz"); }),
            "a.npy.gz: NPY can only be read from a file, and not compressed");
  EXPECT_EQ(message_of<UsageError>([] { open_source("-", {.format = DataFormat::npy}); }),
            "standard input: NPY can only be read from a file, and not compressed");
}

TEST_F(SourceTest, FollowsLinesOfText) {
  const std::string name = folder_.write("a.csv", "1,2\n3,");
  int num_asked = 0;
  const auto should_stop = [&] {
    if (++num_asked == 2) std::ofstream(name, std::ios::app) << "4\n5,6\n7,8";
    return num_asked == 4;
  };
  const auto source = open_source(name, {.follow = true, .should_stop = should_stop});
  EXPECT_EQ(read_rows(*source), Rows({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(source->fraction_read(), std::nullopt);
}

TEST_F(SourceTest, FollowsNothingElse) {
  for (const std::string name : {"a.npy", "a.mtx", "a.h5:/x"}) {
    EXPECT_EQ(folder_.shorten(message_of<UsageError>(
                  [&] { open_source(folder_.path(name), {.follow = true}); })),
              name + ": cannot be followed; .csv, .tsv and .jsonl can");
  }
}

TEST_F(SourceTest, OnlyTablesHaveAHeader) {
  folder_.write("a.csv", "0,1,2\n3,4,5\n");
  folder_.write("a.tsv", "0\t1\t2\n3\t4\t5\n");
  for (const char* name : {"a.csv", "a.tsv"}) {
    const auto rows_with = [&](HeaderRow header) {
      return read_rows(*open_source(folder_.path(name), {.header = header})).size();
    };
    EXPECT_EQ(rows_with(HeaderRow::present), 1u) << name;
    EXPECT_EQ(rows_with(HeaderRow::absent), 2u) << name;
    EXPECT_EQ(read_matrix(folder_.path(name)).rows(), 2) << name;  // no names, no header
  }
  for (const std::string name : {"a.npy", "a.mtx", "a.jsonl", "a.h5:/x"}) {
    EXPECT_EQ(folder_.shorten(message_of<UsageError>(
                  [&] { open_source(folder_.path(name), {.header = HeaderRow::absent}); })),
              name + ": has no header row; only .csv and .tsv files can have one");
  }
}

TEST_F(SourceTest, StopsWaitingForStandardInput) {
  const TestPipe pipe;
  write_all(pipe.writing, "1,2\n3,", "pipe");
  const FileDescriptor before = duplicate(STDIN_FILENO, "stdin");
  dup2(pipe.reading.number(), STDIN_FILENO);
  const auto source =
      open_source("-", {.should_stop = [asked = 0]() mutable { return ++asked > 3; }});
  EXPECT_EQ(read_rows(*source), Rows({{1, 2}}));
  dup2(before.number(), STDIN_FILENO);
}

TEST_F(SourceTest, HandsOutOnlyWhatIsNotZero) {
  const auto source = open_source(folder_.write("a.csv", "0,1.5,,0\n0,0,0,0\n"));
  Observation observation;
  ASSERT_TRUE(source->next(observation));
  EXPECT_EQ(observation.num_channels(), 4);
  EXPECT_THAT(observation.channels(), testing::ElementsAre(1));
  EXPECT_THAT(observation.counts(), testing::ElementsAre(1.5));
  EXPECT_THAT(observation.exposed(), testing::ElementsAre(2));
  EXPECT_THAT(observation.exposures(), testing::ElementsAre(0));
  ASSERT_TRUE(source->next(observation));
  EXPECT_TRUE(observation.channels().empty());
  EXPECT_TRUE(observation.exposed().empty());
  EXPECT_FALSE(source->next(observation));
}

TEST_F(SourceTest, CompressedTextIsDamagedBehindALine) {
  const std::string whole = gzip_of("1,2\n3,4\n5,6\n");
  folder_.write("a.csv.gz", whole.substr(0, whole.size() - 9));
  EXPECT_EQ(trouble_reading("a.csv.gz"), "a.csv.gz: the compressed data are cut off after line 2");
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
