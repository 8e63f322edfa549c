#include "headwater/io/hdf5/hdf5_source.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/test_support.hpp"

// tests/command/test_inputs.py tests files written by h5py: chunks, compression, and every numeric
// type.
namespace headwater {
namespace {

class Hdf5SourceTest : public testing::Test {
 protected:
  Hdf5SourceTest() {
    RowMatrix counts(3, 2);
    counts << 1, 2, 3, 4, 5, 6;
    write(counts);
  }

  void write(const RowMatrix& counts) const {
    Hdf5File file = Hdf5File::create(folder_.path("a.h5"));
    file.write("/counts", counts);
    file.write("/group/column", Vector(counts.col(0)));
    file.write("/group/name", "words");
    file.write("/number", 3.0);
    file.commit();
  }

  Hdf5Source open(const std::string& path, const CellRules& rules = {}) const {
    const Hdf5Name name = {folder_.path("a.h5"), path};
    return Hdf5Source(name, open_hdf5_blocks(name), rules);
  }

  std::string trouble_with(const std::string& path, const CellRules& rules = {}) const {
    return folder_.shorten(message_of([&] {
      Hdf5Source source = open(path, rules);
      read_rows(source);
    }));
  }

  TestFolder folder_;
};

TEST(SplitHdf5Name, FindsTheFileAndThePath) {
  const auto parts = [](const std::string& name) {
    const auto found = split_hdf5_name(name);
    return found ? found->file + " " + found->path : "none";
  };
  EXPECT_EQ(parts("a.h5:/x"), "a.h5 /x");
  EXPECT_EQ(parts("b/a.HDF5:/x/y.csv"), "b/a.HDF5 /x/y.csv");
  EXPECT_EQ(parts("a.h5"), "a.h5 ");
  EXPECT_EQ(parts("c:/a.h5:/x"), "c:/a.h5 /x");
  EXPECT_EQ(parts("a.csv"), "none");
  EXPECT_EQ(parts("a.csv:/x"), "none");
  EXPECT_EQ(parts("a.h5/x.csv"), "none");
}

TEST_F(Hdf5SourceTest, ReadsRows) {
  Hdf5Source source = open("/counts");
  EXPECT_EQ(source.num_channels(), 2);
  EXPECT_EQ(read_rows(source), Rows({{1, 2}, {3, 4}, {5, 6}}));
  Hdf5Source column = open("/group/column");
  EXPECT_EQ(read_rows(column), Rows({{1}, {3}, {5}}));
}

TEST_F(Hdf5SourceTest, ReadsSomeColumnsAlone) {
  RowMatrix counts(3, 4);
  counts << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12;
  write(counts);
  const Hdf5Name name = {folder_.path("a.h5"), "/counts"};
  Hdf5Source source(name, open_hdf5_blocks(name), {}, open_hdf5_blocks);
  ASSERT_TRUE(source.keep_columns(1, 3));
  EXPECT_EQ(source.num_channels(), 4);
  std::vector<double> values;
  ASSERT_TRUE(source.next(values));
  EXPECT_EQ(values, std::vector<double>({2, 3, 4}));
  ASSERT_TRUE(source.next(values));
  EXPECT_EQ(values, std::vector<double>({6, 7, 8}));
  const std::string trouble = message_of([&] { source.next(values); });
  EXPECT_NE(trouble.find("row 3, column 4: "), std::string::npos) << trouble;
  EXPECT_FALSE(open("/counts").keep_columns(1, 3));  // nobody has said how to open it again
}

TEST_F(Hdf5SourceTest, RefusesColumnsThatAreNotThere) {
  Hdf5Name name = {folder_.path("a.h5"), "/counts"};
  name.first_kept = 1;
  name.num_kept = 2;
  EXPECT_NE(message_of([&] { open_hdf5_blocks(name); }).find("has 2 columns"), std::string::npos);
}

TEST_F(Hdf5SourceTest, ReadsMoreThanABlock) {
  const Index num_rows = 200001;
  RowMatrix counts(num_rows, 2);
  for (Index i = 0; i < num_rows; ++i) counts.row(i) << static_cast<double>(i), 1;
  write(counts);
  Hdf5Source source = open("/counts");
  std::vector<double> values;
  for (Index i = 0; i < num_rows; ++i) {
    ASSERT_TRUE(source.next(values));
    ASSERT_EQ(values[0], static_cast<double>(i));
  }
  EXPECT_FALSE(source.next(values));
}

TEST_F(Hdf5SourceTest, SaysWhichDatasetsThereAre) {
  EXPECT_EQ(trouble_with("/x"),
            "a.h5: /x: is missing; the file has /counts, /group/column, /group/name, /number");
  EXPECT_EQ(trouble_with("/x/y"),
            "a.h5: /x/y: is missing; the file has /counts, /group/column, /group/name, /number");
  EXPECT_EQ(trouble_with(""),
            "a.h5: expected a dataset after the file name, as in a.h5:/x; the file has /counts, "
            "/group/column, /group/name, /number");
  Hdf5File::create(folder_.path("a.h5")).commit();
  EXPECT_EQ(trouble_with("/x"), "a.h5: /x: is missing; the file has no datasets");
  Hdf5File many = Hdf5File::create(folder_.path("a.h5"));
  for (int i = 1; i <= 9; ++i) many.write("/d" + std::to_string(i), 1.0);
  many.commit();
  EXPECT_EQ(trouble_with("/x"),
            "a.h5: /x: is missing; the file has /d1, /d2, /d3, /d4, /d5, /d6, /d7, /d8, ...");
}

TEST_F(Hdf5SourceTest, RefusesOtherDatasets) {
  EXPECT_EQ(trouble_with("/group"), "a.h5: /group: cannot be opened as a dataset");
  EXPECT_EQ(trouble_with("/group/name"), "a.h5: /group/name: does not hold numbers");
  EXPECT_EQ(
      trouble_with("/number"),
      "a.h5: /number: has 0 dimensions; expected 2, 1 for a single channel, or 3 for sequences");
  write(RowMatrix(0, 2));
  EXPECT_EQ(trouble_with("/counts"), "a.h5:/counts: holds no observations");
}

TEST_F(Hdf5SourceTest, SaysWhatIsWrongWithAFile) {
  folder_.write("a.h5", "1,2\n");
  EXPECT_EQ(trouble_with("/x"), "a.h5: is not an HDF5 file");
}

TEST_F(Hdf5SourceTest, SaysWhatIsWrongWithAValueAndGoesOn) {
  RowMatrix counts(4, 2);
  counts << 1, 2, 3, -4, 5, std::numeric_limits<double>::infinity(), std::nan(""), -0.0;
  write(counts);
  Hdf5Source source = open("/counts");
  std::vector<std::string> messages;
  EXPECT_EQ(read_good_rows(source, messages), Rows({{1, 2}, {-1, 0}}));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(folder_.shorten(messages[0]),
            "a.h5:/counts: row 2, column 2: -4 is negative; observations must be 0 or more");
  EXPECT_EQ(folder_.shorten(messages[1]),
            "a.h5:/counts: row 3, column 2: inf is not finite; observations must be finite");
  EXPECT_EQ(trouble_with("/group/column", {.subject = "entries", .allow_missing = false}),
            "a.h5:/group/column: row 4, column 1: nan is missing; entries must all be given");
}

TEST_F(Hdf5SourceTest, KnowsWhereItIs) {
  Hdf5Source source = open("/counts");
  std::vector<double> values;
  EXPECT_EQ(source.fraction_read(), 0.0);
  EXPECT_EQ(folder_.shorten(source.position()), "a.h5:/counts");
  source.next(values);
  EXPECT_DOUBLE_EQ(source.fraction_read().value(), 1.0 / 3);
  EXPECT_EQ(folder_.shorten(source.position()), "a.h5:/counts: row 1");
}

}  // namespace
}  // namespace headwater
