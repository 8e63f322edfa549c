#include "headwater/io/npy/npy_sink.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "headwater/io/npy/npy_header.hpp"
#include "headwater/io/test_support.hpp"
#include "headwater/source.hpp"

namespace headwater {
namespace {

TEST(NpySink, ReadsBackAsTheSame) {
  const TestFolder folder;
  const RowMatrix matrix = RowMatrix::Random(50, 7).cwiseAbs();
  NpySink sink(folder.path("out.npy"), false);
  for (Index i = 0; i < matrix.rows(); ++i) sink.write_row({matrix.row(i).data(), 7});
  sink.commit();
  EXPECT_EQ(read_matrix(folder.path("out.npy")), matrix);
}

TEST(NpySink, HeaderAndDoublesAreAllThereIs) {
  const TestFolder folder;
  NpySink sink(folder.path("out.npy"), true);
  const double row[] = {1.0, 2.0};
  sink.write_row(row);
  sink.commit();
  const std::string expected =
      format_npy_header(1, 2) + std::string(6, '\0') + "\xf0\x3f" + std::string(7, '\0') + "\x40";
  EXPECT_EQ(folder.read("out.npy"), expected);
}

TEST(NpySink, MayHaveNoRows) {
  const TestFolder folder;
  NpySink(folder.path("out.npy"), false).commit();
  EXPECT_EQ(folder.read("out.npy"), format_npy_header(0, 0));
}

TEST(NpySink, RefusesPipes) {
  const TestFolder folder;
  const std::string name = folder.path("pipe.npy");
  ASSERT_EQ(mkfifo(name.c_str(), 0666), 0);
  std::thread reader([&] { folder.read("pipe.npy"); });
  EXPECT_EQ(folder.shorten(message_of([&] { NpySink(name, false); })),
            "pipe.npy: cannot be written: .npy needs a regular file");
  reader.join();
}

}  // namespace
}  // namespace headwater
