#include "headwater/io/hdf5/hdf5.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using Names = std::vector<std::string>;

class Hdf5Test : public testing::Test {
 protected:
  std::string path(std::string_view name) const { return folder_.path(name); }

  template <class Call>
  std::string trouble_with(Call call) const {
    return folder_.shorten(message_of(call));
  }

  // A file with every kind of object.
  Hdf5File write_example(std::string_view name) const {
    auto file = Hdf5File::create(path(name));
    Matrix basis(2, 3);
    basis << 1, 2, 3, 4, 5, 6;
    file.write("/basis", basis);
    file.write("/prior/parameters/alpha", 0.1);
    file.write("/prior/name", "relaxed-selection");
    file.write("/seed", -7);
    file.write("/trace", Vector(Vector::LinSpaced(4, 0, 3)));
    file.set_attribute("/", "format", "headwater model");
    file.set_attribute("/prior", "version", 3);
    file.commit();
    return Hdf5File::open(path(name));
  }

  TestFolder folder_;
};

TEST_F(Hdf5Test, ReadsBackWhatWasWritten) {
  const Hdf5File file = write_example("model.h5");
  Matrix basis(2, 3);
  basis << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(file.read_matrix("/basis"), basis);
  EXPECT_EQ(file.read_double("/prior/parameters/alpha"), 0.1);
  EXPECT_EQ(file.read_string("/prior/name"), "relaxed-selection");
  EXPECT_EQ(file.read_int("/seed"), -7);
  EXPECT_EQ(file.read_double("/seed"), -7.0);
  EXPECT_EQ(file.read_vector("/trace"), Vector(Vector::LinSpaced(4, 0, 3)));
  EXPECT_EQ(file.string_attribute("/", "format"), "headwater model");
  EXPECT_EQ(file.int_attribute("/prior", "version"), 3);
}

TEST_F(Hdf5Test, StoresTheEnds) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto file = Hdf5File::create(path("a.h5"));
  file.write("/none", Matrix(0, 3));
  file.write("/nothing", Vector(0));
  file.write("/empty", "");
  file.write("/text", "größer");
  file.write("/low", std::numeric_limits<std::int64_t>::min());
  file.write("/rows", RowMatrix(RowMatrix::Identity(2, 3)));
  file.write("/values", Vector(Vector::Constant(2, -infinity)));
  EXPECT_EQ(file.read_string("/text"), "größer");  // before commit() too
  file.commit();
  file = Hdf5File::open(path("a.h5"));
  EXPECT_EQ(file.read_matrix("/none").rows(), 0);
  EXPECT_EQ(file.read_matrix("/none").cols(), 3);
  EXPECT_EQ(file.read_vector("/nothing").size(), 0);
  EXPECT_EQ(file.read_string("/empty"), "");
  EXPECT_EQ(file.read_string("/text"), "größer");
  EXPECT_EQ(file.read_int("/low"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(file.read_matrix("/rows"), Matrix(Matrix::Identity(2, 3)));
  EXPECT_EQ(file.read_vector("/values")[1], -infinity);
}

TEST_F(Hdf5Test, MatricesLieRowAfterRow) {
  write_example("model.h5");
  std::string rows;
  for (const double value : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}) {
    rows.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  EXPECT_NE(folder_.read("model.h5").find(rows), std::string::npos);
}

TEST_F(Hdf5Test, TheSameContentsGiveTheSameBytes) {
  write_example("first.h5");
  Hdf5File::create(path("other.h5")).write("/something/else", Vector(Vector::Random(1000)));
  write_example("second.h5");
  EXPECT_FALSE(folder_.read("first.h5").empty());
  EXPECT_EQ(folder_.read("first.h5"), folder_.read("second.h5"));
}

TEST_F(Hdf5Test, AppearsOnlyWithCommit) {
  folder_.write("model.h5", "old");
  {
    auto file = Hdf5File::create(path("model.h5"));
    file.write("/a", 1);
  }
  EXPECT_EQ(folder_.list(), Names({"model.h5"}));
  EXPECT_EQ(folder_.read("model.h5"), "old");
}

TEST_F(Hdf5Test, SeveralFilesMayGrowAtOnce) {
  auto first = Hdf5File::create(path("model.h5"));
  auto second = Hdf5File::create(path("model.h5"));
  first.write("/a", 1);
  second.write("/a", 2);
  second.commit();
  first.commit();
  EXPECT_EQ(Hdf5File::open(path("model.h5")).read_int("/a"), 1);
}

TEST_F(Hdf5Test, WritesDevices) {
  auto file = Hdf5File::create("/dev/null");
  file.write("/a", 1);
  file.commit();
  auto full = Hdf5File::create("/dev/full");
  full.write("/a", 1);
  EXPECT_EQ(trouble_with([&] { full.commit(); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST_F(Hdf5Test, KnowsWhatIsThere) {
  const Hdf5File file = write_example("model.h5");
  EXPECT_EQ(file.children("/"), Names({"basis", "prior", "seed", "trace"}));
  EXPECT_EQ(file.children("/prior"), Names({"name", "parameters"}));
  for (const char* there : {"/", "/basis", "/prior", "/prior/parameters/alpha"}) {
    EXPECT_TRUE(file.contains(there)) << there;
  }
  for (const char* missing :
       {"/x", "/prior/x", "/x/y/z", "/basis/x", "/prior/parameters/alpha/x"}) {
    EXPECT_FALSE(file.contains(missing)) << missing;
  }
  EXPECT_TRUE(file.has_attribute("/", "format"));
  EXPECT_FALSE(file.has_attribute("/", "x"));
  EXPECT_FALSE(file.has_attribute("/x", "format"));
}

TEST_F(Hdf5Test, SaysWhatIsWrongWithAPath) {
  const Hdf5File file = write_example("model.h5");
  EXPECT_EQ(trouble_with([&] { file.read_matrix("/x"); }), "model.h5: /x: is missing");
  EXPECT_EQ(trouble_with([&] { file.read_double("/basis/x"); }), "model.h5: /basis/x: is missing");
  EXPECT_EQ(trouble_with([&] { file.read_double("/prior"); }),
            "model.h5: /prior: cannot be opened as a dataset");
  EXPECT_EQ(trouble_with([&] { file.read_matrix("/trace"); }),
            "model.h5: /trace: has 1 dimension; expected 2");
  EXPECT_EQ(trouble_with([&] { file.read_vector("/basis"); }),
            "model.h5: /basis: has 2 dimensions; expected 1");
  EXPECT_EQ(trouble_with([&] { file.read_double("/basis"); }),
            "model.h5: /basis: holds an array; expected a single value");
  EXPECT_EQ(trouble_with([&] { file.read_matrix("/prior/name"); }),
            "model.h5: /prior/name: does not hold numbers");
  EXPECT_EQ(trouble_with([&] { file.read_int("/prior/parameters/alpha"); }),
            "model.h5: /prior/parameters/alpha: does not hold a whole number");
  EXPECT_EQ(trouble_with([&] { file.read_string("/seed"); }),
            "model.h5: /seed: does not hold a string");
  EXPECT_EQ(trouble_with([&] { file.children("/x"); }), "model.h5: /x: is missing");
  EXPECT_EQ(trouble_with([&] { file.children("/seed"); }), "model.h5: /seed: is not a group");
}

TEST_F(Hdf5Test, SaysWhatIsWrongWithAnAttribute) {
  const Hdf5File file = write_example("model.h5");
  EXPECT_EQ(trouble_with([&] { file.int_attribute("/", "x"); }),
            "model.h5: /: attribute 'x' is missing");
  EXPECT_EQ(trouble_with([&] { file.int_attribute("/x", "x"); }), "model.h5: /x: is missing");
  EXPECT_EQ(trouble_with([&] { file.int_attribute("/", "format"); }),
            "model.h5: /: attribute 'format': does not hold a whole number");
  EXPECT_EQ(trouble_with([&] { file.string_attribute("/prior", "version"); }),
            "model.h5: /prior: attribute 'version': does not hold a string");
}

TEST_F(Hdf5Test, SaysWhatCannotBeWritten) {
  auto file = Hdf5File::create(path("model.h5"));
  file.write("/a", 1);
  EXPECT_EQ(trouble_with([&] { file.write("/a", 2); }), "model.h5: /a: is there already");
  EXPECT_EQ(trouble_with([&] { file.write("/a/b", 2); }), "model.h5: /a/b: cannot be created");
  EXPECT_EQ(trouble_with([&] { file.write("/b", std::string_view("x\0y", 3)); }),
            "model.h5: /b: a string with a NUL byte cannot be written");
  EXPECT_EQ(trouble_with([&] { file.set_attribute("/x", "n", 1); }), "model.h5: /x: is missing");
  file.commit();
  auto opened = Hdf5File::open(path("model.h5"));
  EXPECT_EQ(trouble_with([&] { opened.write("/b", 2); }), "model.h5: /b: cannot be created");
  EXPECT_EQ(trouble_with([&] { opened.set_attribute("/", "n", 1); }),
            "model.h5: /: attribute 'n' cannot be written");
}

TEST_F(Hdf5Test, AttributesMayBeSetAgain) {
  auto file = Hdf5File::create(path("a.h5"));
  file.set_attribute("/", "n", 1);
  file.set_attribute("/", "n", "two");
  EXPECT_EQ(file.string_attribute("/", "n"), "two");
}

TEST_F(Hdf5Test, SaysWhyAFileCannotBeOpened) {
  const auto trouble_opening = [&](std::string_view name) {
    return trouble_with([&] { Hdf5File::open(path(name)); });
  };
  EXPECT_EQ(trouble_opening("x.h5"), "x.h5: cannot be opened: No such file or directory");
  folder_.write("x.csv", "1,2\n");
  EXPECT_EQ(trouble_opening("x.csv"), "x.csv: is not an HDF5 file");
  folder_.write("x.h5", "");
  EXPECT_EQ(trouble_opening("x.h5"), "x.h5: is not an HDF5 file");
  write_example("model.h5");
  folder_.write("model.h5", folder_.read("model.h5").substr(0, 1000));
  EXPECT_EQ(trouble_opening("model.h5"), "model.h5: is a damaged HDF5 file");
  EXPECT_EQ(trouble_with([&] { Hdf5File::create(path("no/such/folder/model.h5")); }),
            "no/such/folder/model.h5: cannot be written: No such file or directory");
}

TEST_F(Hdf5Test, PrintsNothing) {
  testing::internal::CaptureStderr();
  const Hdf5File file = write_example("model.h5");
  EXPECT_THROW(file.read_matrix("/x"), InputError);
  EXPECT_THROW(file.read_matrix("/prior"), InputError);
  EXPECT_THROW(file.int_attribute("/", "x"), InputError);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace headwater
