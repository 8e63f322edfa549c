#include "headwater/io/mtx/mtx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

const std::string kSparse = "%%MatrixMarket matrix coordinate real general\n";
const std::string kDense = "%%MatrixMarket matrix array real general\n";

class MtxTest : public testing::Test {
 protected:
  std::unique_ptr<ObservationSource> open(const std::string& text,
                                          const CellRules& rules = {}) const {
    return open_mtx(folder_.write("a.mtx", text), rules);
  }

  Rows read(const std::string& text, const CellRules& rules = {}) const {
    return read_rows(*open(text, rules));
  }

  std::string trouble_with(const std::string& text, const CellRules& rules = {}) const {
    return folder_.shorten(message_of([&] { read(text, rules); }));
  }

  TestFolder folder_;
};

TEST_F(MtxTest, ReadsEntriesInAnyOrder) {
  const Rows expected = {{1, 0, 2}, {0, 0, 0}, {0, 3.5, 0}, {0, 0, 0}};
  EXPECT_EQ(read(kSparse + "4 3 3\n1 1 1\n1 3 2\n3 2 3.5\n"), expected);  // sorted by row
  EXPECT_EQ(read(kSparse + "4 3 3\n1 3 2\n1 1 1\n3 2 3.5\n"), expected);  // not within a row
  EXPECT_EQ(read(kSparse + "4 3 3\n1 1 1\n3 2 3.5\n1 3 2\n"), expected);  // by column
  EXPECT_EQ(read(kSparse + "4 3 3\n3 2 3.5\n1 3 2\n1 1 1\n"), expected);  // unsorted
  EXPECT_EQ(read(kSparse + "2 2 0\n"), Rows({{0, 0}, {0, 0}}));
}

TEST_F(MtxTest, PassesOverCommentsAndBlankLines) {
  EXPECT_EQ(read(kSparse + "% counts\n\n%\n 2  2\t2 \n\n1 1 1\n% more\n  2\t2  4 \n\n"),
            Rows({{1, 0}, {0, 4}}));
  EXPECT_EQ(read("%%MatrixMarket MATRIX Coordinate Real General\r\n1 1 1\r\n1 1 7\r\n"),
            Rows({{7}}));
}

TEST_F(MtxTest, KnowsTheKindsOfEntries) {
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n1 2 1\n1 2 1000000000\n"),
            Rows({{0, 1e9}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n"),
            Rows({{0, 1}, {1, 0}}));
  EXPECT_EQ(read("%%MatrixMarket matrix array integer general\n1 2\n3\n4\n"), Rows({{3, 4}}));
}

TEST_F(MtxTest, ReadsDenseMatricesColumnByColumn) {
  EXPECT_EQ(read(kDense + "3 2\n1\n2\n3\n4\n5\nnan\n"), Rows({{1, 4}, {2, 5}, {3, -1}}));
}

TEST_F(MtxTest, AddsUpEntriesForTheSameCell) {
  const Rows expected = {{3, 4}, {0, 0}};
  EXPECT_EQ(read(kSparse + "2 2 3\n1 1 1\n1 2 4\n1 1 2\n"), expected);
  EXPECT_EQ(read(kSparse + "2 2 4\n2 1 0\n1 1 1\n1 2 4\n1 1 2\n"), expected);
  EXPECT_EQ(read(kSparse + "1 2 3\n1 1 nan\n1 2 1\n1 1 2\n"), Rows({{-1, 1}}));
  std::string many = kSparse + "1 2 1001\n";
  for (int i = 0; i < 1000; ++i) many += "1 1 1\n";
  EXPECT_EQ(read(many + "1 2 5\n"), Rows({{1000, 5}}));
  EXPECT_EQ(trouble_with(kSparse + "1 1 2\n1 1 6e14\n1 1 6e14\n"),
            "a.mtx: row 1, column 1: its entries add up to more than 1e+15");
}

TEST_F(MtxTest, HandsOutOnlyWhatIsNotZero) {
  for (const char* entries : {"1 2 3\n1 9 nan\n1 5 0\n3 1 1\n", "1 2 3\n3 1 1\n1 5 0\n1 9 nan\n"}) {
    const auto source = open(kSparse + "3 1000000 4\n" + entries);
    Observation observation;
    ASSERT_TRUE(source->next(observation));
    EXPECT_EQ(observation.num_channels(), 1000000);
    EXPECT_THAT(observation.channels(), testing::ElementsAre(1));
    EXPECT_THAT(observation.counts(), testing::ElementsAre(3));
    EXPECT_THAT(observation.exposed(), testing::ElementsAre(8));
    EXPECT_THAT(observation.exposures(), testing::ElementsAre(0));
    ASSERT_TRUE(source->next(observation));
    EXPECT_TRUE(observation.channels().empty());
    ASSERT_TRUE(source->next(observation));
    EXPECT_THAT(observation.channels(), testing::ElementsAre(0));
    EXPECT_FALSE(source->next(observation));
  }
}

// A header that announces more rows and entries than any memory can hold must cost none.
TEST_F(MtxTest, TakesMemoryForWhatIsThereOnly) {
  const auto source = open(kSparse + "4000000000 100000000 1\n1 100000000 1\n");
  Observation observation;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(source->next(observation));
  EXPECT_EQ(trouble_with(kSparse + "4000000000 100000000 1000000000000000\n1 1 1\n"),
            "a.mtx: ends after 1 of the 1000000000000000 entries that line 2 announces");
  EXPECT_EQ(trouble_with(kDense + "4000000000 100000000\n1\n"),
            "a.mtx: ends after 1 of the 400000000000000000 entries that line 2 announces");
}

TEST_F(MtxTest, ReadsPipesAndCompressedFiles) {
  const std::string text = kSparse + "2 2 2\n1 1 1\n2 2 4\n";
  EXPECT_EQ(read_rows(*open_mtx(folder_.write("a.mtx.gz", gzip_of(text)), {})),
            Rows({{1, 0}, {0, 4}}));
  TestPipe pipe;
  write_all(pipe.writing, kSparse + "2 2 2\n2 2 4\n1 1 1\n", "pipe");
  pipe.writing = FileDescriptor();
  EXPECT_EQ(read_rows(*open_mtx("/dev/fd/" + std::to_string(pipe.reading.number()), {})),
            Rows({{1, 0}, {0, 4}}));
}

TEST_F(MtxTest, RefusesOtherMatrices) {
  EXPECT_EQ(trouble_with(""), "a.mtx: holds no observations");
  EXPECT_EQ(trouble_with("1,2\n"),
            "a.mtx:1: is not a Matrix Market file, which begins with '%%MatrixMarket'");
  EXPECT_EQ(trouble_with("%%MatrixMarket matrix coordinate real\n"),
            "a.mtx:1: expected five words: %%MatrixMarket matrix coordinate|array "
            "real|integer|pattern general");
  EXPECT_EQ(trouble_with("%%MatrixMarket vector coordinate real general\n"),
            "a.mtx:1: 'vector'; expected a 'matrix'");
  EXPECT_EQ(trouble_with("%%MatrixMarket matrix sparse real general\n"),
            "a.mtx:1: 'sparse'; expected 'coordinate' or 'array'");
  for (const std::string kind : {"symmetric", "skew-symmetric", "hermitian"}) {
    EXPECT_EQ(trouble_with("%%MatrixMarket matrix coordinate real " + kind + "\n"),
              "a.mtx:1: the matrix is '" + kind + "'; expected 'general'");
  }
  EXPECT_EQ(trouble_with("%%MatrixMarket matrix coordinate complex general\n"),
            "a.mtx:1: entries are 'complex'; expected 'real', 'integer' or 'pattern'");
  EXPECT_EQ(trouble_with("%%MatrixMarket matrix array pattern general\n"),
            "a.mtx:1: entries are 'pattern'; expected 'real' or 'integer'");
}

TEST_F(MtxTest, RefusesBadSizes) {
  EXPECT_EQ(trouble_with(kSparse + "% nothing\n"), "a.mtx: ends before the line of sizes");
  EXPECT_EQ(trouble_with(kSparse + "2 x 1\n"),
            "a.mtx:2: 'x' where the number of columns was expected");
  EXPECT_EQ(trouble_with(kSparse + "2 2\n"),
            "a.mtx:2: '' where the number of entries was expected");
  EXPECT_EQ(trouble_with(kSparse + "-2 2 1\n"),
            "a.mtx:2: '-2' where the number of rows was expected");
  EXPECT_EQ(trouble_with(kDense + "2 2 4\n"), "a.mtx:2: '4' where the line was expected to end");
  EXPECT_EQ(trouble_with(kSparse + "0 2 0\n"), "a.mtx: holds no observations");
  EXPECT_EQ(trouble_with(kSparse + "2 0 0\n"), "a.mtx: holds no observations");
  EXPECT_EQ(trouble_with(kSparse + "4294967296 1 0\n"),
            "a.mtx:2: 4294967296 rows; expected below 2^32");
  EXPECT_EQ(trouble_with(kSparse + "1 1000000000 0\n"),
            "a.mtx:2: 1000000000 columns; expected at most 134217728");
}

TEST_F(MtxTest, RefusesBadEntries) {
  const std::string head = kSparse + "% x\n2 3 2\n1 1 1\n";
  EXPECT_EQ(trouble_with(head + "3 1 1\n"), "a.mtx:5: row 3; expected 1 to 2");
  EXPECT_EQ(trouble_with(head + "0 1 1\n"), "a.mtx:5: row 0; expected 1 to 2");
  EXPECT_EQ(trouble_with(head + "1 4 1\n"), "a.mtx:5: column 4; expected 1 to 3");
  EXPECT_EQ(trouble_with(head + "1 99999999999999999999 1\n"),
            "a.mtx:5: column 99999999999999999999; expected 1 to 3");
  EXPECT_EQ(trouble_with(head + "1.5 1 1\n"),
            "a.mtx:5: '1.5' where the number of a row was expected");
  EXPECT_EQ(trouble_with(head + "1 1\n"), "a.mtx:5: the line ends where a value was expected");
  EXPECT_EQ(trouble_with(head + "1\n"), "a.mtx:5: '' where the number of a column was expected");
  EXPECT_EQ(trouble_with(head + "1 2 -1\n"),
            "a.mtx:5: '-1' is negative; observations must be 0 or more");
  EXPECT_EQ(trouble_with(head + "1 2 many\n"), "a.mtx:5: 'many' is not a number");
  EXPECT_EQ(trouble_with(head + "1 2 1 0\n"), "a.mtx:5: '0' where the line was expected to end");
  EXPECT_EQ(trouble_with(head), "a.mtx: ends after 1 of the 2 entries that line 3 announces");
  EXPECT_EQ(trouble_with(head + "1 2 1\n1 3 1\n"),
            "a.mtx:6: one entry more than the 2 that line 3 announces");
  EXPECT_EQ(
      trouble_with(kSparse + "1 1 1\n1 1 nan\n", {.subject = "entries", .allow_missing = false}),
      "a.mtx:3: 'nan' is missing; entries must all be given");
  EXPECT_EQ(trouble_with(kDense + "1 2\n1\n-1\n"),
            "a.mtx:4: '-1' is negative; observations must be 0 or more");
}

TEST_F(MtxTest, NoticesThatAFileWasChanged) {
  const std::string name = folder_.write("a.mtx", kSparse + "2 1 2\n2 1 2\n1 1 1\n");
  auto reader = std::make_unique<MtxReader>(open_text(name));
  const MtxHeader header = reader->header();
  SparseMtxSource source(std::move(reader), header, "a.mtx");
  EXPECT_EQ(message_of([&] { read_rows(source); }), "a.mtx: was changed while it was read");
}

TEST_F(MtxTest, KnowsWhereItIs) {
  for (const std::string& text : {kSparse + "4 1 1\n3 1 1\n", kDense + "4 1\n0\n0\n1\n0\n"}) {
    const auto source = open(text);
    std::vector<double> values;
    EXPECT_EQ(source->num_channels(), 1);
    EXPECT_EQ(source->fraction_read(), 0.0);
    EXPECT_EQ(folder_.shorten(source->position()), "a.mtx");
    EXPECT_FALSE(source->can_go_on_after_error());
    source->next(values);
    EXPECT_EQ(source->fraction_read(), 0.25);
    EXPECT_EQ(folder_.shorten(source->position()), "a.mtx: row 1");
  }
}

}  // namespace
}  // namespace headwater
