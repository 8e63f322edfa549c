#include "headwater/io/text/csv_sink.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "headwater/core/test_numbers.hpp"
#include "headwater/io/test_support.hpp"
#include "headwater/source.hpp"

namespace headwater {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const std::vector<double>& row, char separator = ',') {
  const TestFolder folder;
  CsvSink sink(folder.path("out.csv"), separator);
  sink.write_row(row);
  sink.commit();
  return folder.read("out.csv");
}

std::string header_of(const std::vector<std::string>& header, char separator = ',') {
  const TestFolder folder;
  CsvSink sink(folder.path("out.csv"), separator, header);
  sink.commit();
  return folder.read("out.csv");
}

TEST(CsvSink, WritesNumbersAsShortAsTheyCanBe) {
  EXPECT_EQ(text_of({0, 3, 0.1, 1.0 / 3, 1e-7}), "0,3,0.1,0.3333333333333333,1e-07\n");
  EXPECT_EQ(text_of({1, 2}, '\t'), "1\t2\n");
  EXPECT_EQ(text_of({-1.5, 5e-324, 1.7976931348623157e308}),
            "-1.5,5e-324,1.7976931348623157e+308\n");
}

TEST(CsvSink, WritesWholeNumbersPlainly) {
  EXPECT_EQ(text_of({1e15, 123456789, 9007199254740991}),
            "1000000000000000,123456789,9007199254740991\n");
  EXPECT_EQ(text_of({1e21}), "1e+21\n");
}

TEST(CsvSink, WritesWhatIsNotFinite) {
  EXPECT_EQ(text_of({1, kNan, kInfinity, -kInfinity}), "1,,inf,-inf\n");
  EXPECT_EQ(text_of({kNan, kNan}), ",\n");
  EXPECT_EQ(text_of({kNan}), "NaN\n");  // a blank line would be skipped
}

TEST(CsvSink, WritesAHeader) {
  EXPECT_EQ(header_of({"a", "b c"}), "a,b c\n");
  EXPECT_EQ(header_of({"a,b", "say \"c\"", "#", " d"}), "\"a,b\",\"say \"\"c\"\"\",\"#\",\" d\"\n");
  EXPECT_EQ(header_of({"a,b", "c\td"}, '\t'), "a,b\t\"c\td\"\n");
}

TEST(CsvSink, TheHeaderSaysHowManyColumns) {
  const TestFolder folder;
  CsvSink sink(folder.path("out.csv"), ',', {"a", "b"});
  EXPECT_EQ(folder.shorten(message_of<UsageError>([&] { sink.write_row(std::array{1.0}); })),
            "out.csv: row 1 has 1 values where 2 were expected");
}

TEST(CsvSink, ReadsBackAsTheSame) {
  const TestFolder folder;
  RowMatrix matrix = RowMatrix::Random(50, 7).cwiseAbs();
  matrix(3, 2) = 1e-310;
  matrix(4, 1) = 123456789012345.62;
  CsvSink sink(folder.path("out.csv"), ',', {"a", "b", "c", "d", "e", "f", "g"});
  for (Index i = 0; i < matrix.rows(); ++i) sink.write_row({matrix.row(i).data(), 7});
  sink.commit();
  EXPECT_EQ(read_matrix(folder.path("out.csv")), matrix);
}

}  // namespace
}  // namespace headwater
