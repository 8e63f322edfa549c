#include "headwater/state_archive.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "headwater/error.hpp"

namespace headwater {
namespace {

enum class Colour { kRed, kBlue };

struct Inner {
  double value = 0;
  std::string name;

  void exchange(StateArchive& archive) { archive(value, name); }
};

struct Everything {
  bool flag = false;
  int number = 0;
  Colour colour = Colour::kRed;
  Vector vector;
  Matrix matrix;
  RowMatrix rows;
  std::vector<std::int32_t> ancestors;
  std::vector<Inner> inner;

  void exchange(StateArchive& archive) {
    archive(flag, number, colour, vector, matrix, rows, ancestors, inner);
  }
};

Everything sample() {
  Everything value;
  value.flag = true;
  value.number = -7;
  value.colour = Colour::kBlue;
  value.vector = Vector::LinSpaced(3, -0.0, std::numeric_limits<double>::denorm_min());
  value.matrix =
      (Matrix(2, 3) << 1, 2, 3, 4, std::numeric_limits<double>::infinity(), 6).finished();
  value.rows = value.matrix;
  value.ancestors = {3, 1, 2};
  value.inner = {{0.1, "one"}, {0.2, ""}};
  return value;
}

std::string bytes_of(Everything value) {
  StateArchive archive;
  archive(value);
  return archive.bytes();
}

TEST(StateArchive, WhatIsReadIsWhatWasWritten) {
  const std::string bytes = bytes_of(sample());
  StateArchive archive(bytes);
  Everything read;
  archive(read);
  archive.expect_end();
  EXPECT_EQ(bytes_of(read), bytes);
  EXPECT_EQ(read.matrix, sample().matrix);
  EXPECT_EQ(read.inner[1].value, 0.2);
  EXPECT_EQ(read.ancestors, sample().ancestors);
}

TEST(StateArchive, BytesThatEndTooEarlyAreRefusedWhereverTheyEnd) {
  const std::string bytes = bytes_of(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    StateArchive archive(bytes.substr(0, size));
    Everything read;
    EXPECT_THROW(archive(read), InputError) << size;
  }
  StateArchive longer(bytes + "x");
  Everything read;
  longer(read);
  EXPECT_THROW(longer.expect_end(), InputError);
}

TEST(StateArchive, NoRoomIsMadeForWhatCannotBeThere) {
  StateArchive writer;
  std::uint64_t huge = std::uint64_t{1} << 60;
  writer(huge, huge);
  std::vector<double> numbers;
  Matrix matrix;
  std::string text;
  EXPECT_THROW(StateArchive(writer.bytes())(numbers), InputError);
  EXPECT_THROW(StateArchive(writer.bytes())(matrix), InputError);
  EXPECT_THROW(StateArchive(writer.bytes())(text), InputError);
}

TEST(StateArchive, AnEmptyVectorMayBeTheLastThing) {
  StateArchive writer;
  Vector empty;
  Matrix no_columns(5, 0);
  writer(no_columns, empty);
  StateArchive reader(writer.bytes());
  Vector vector;
  Matrix matrix;
  reader(matrix, vector);
  reader.expect_end();
  EXPECT_EQ(vector.size(), 0);
  EXPECT_EQ(matrix.rows(), 5);
}

TEST(StateArchive, AMatrixKeepsItsShape) {
  StateArchive writer;
  Matrix matrix = Matrix::Ones(2, 3);
  writer(matrix);
  Matrix other = Matrix::Zero(3, 2);
  EXPECT_THROW(StateArchive(writer.bytes())(other), InputError);
  Vector vector;
  EXPECT_THROW(StateArchive(writer.bytes())(vector), InputError);
  Matrix free;
  StateArchive(writer.bytes())(free);
  EXPECT_EQ(free, matrix);
}

}  // namespace
}  // namespace headwater
