#include "headwater/observation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headwater/core/test_numbers.hpp"
#include "headwater/error.hpp"
#include "headwater/observations/stream_digest.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string message_of(const std::vector<double>& counts, const std::vector<double>& exposures) {
  Observation y;
  try {
    y.assign(counts, exposures, 17);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Observation, ListsCountsAndUnusualExposures) {
  const std::vector<double> counts = {0, 3, kMissing, 0.5, 7};
  const std::vector<double> exposures = {1, 1, 1, 2, 0};
  const Observation y(counts, exposures);
  EXPECT_EQ(y.num_channels(), 5);
  EXPECT_THAT(y.channels(), ElementsAre(1, 3));
  EXPECT_THAT(y.counts(), ElementsAre(3, 0.5));
  EXPECT_THAT(y.exposed(), ElementsAre(2, 3, 4));
  EXPECT_THAT(y.exposures(), ElementsAre(0, 2, 0));
  EXPECT_TRUE(y.any_seen());
}

TEST(Observation, WithoutExposuresListsMissingCellsAlone) {
  const Observation y(std::vector<double>{1, 0, 2});
  EXPECT_THAT(y.exposed(), IsEmpty());
  EXPECT_FALSE(Observation(std::vector<double>{kMissing, kMissing}).any_seen());
}

TEST(Observation, IsRefusedAtTheDoor) {
  EXPECT_EQ(message_of({1, -1}, {}),
            "observation 17, channel 2: -1 found; observations must be from 0 to 1e+15");
  EXPECT_EQ(message_of({kInfinity}, {}),
            "observation 17, channel 1: inf found; observations must be from 0 to 1e+15");
  EXPECT_EQ(
      message_of({1, 1}, {1, -2}),
      "observation 17, channel 2: exposure -2 found; exposures must be 0, or from 1e-15 to 1e+15");
  EXPECT_EQ(message_of({1, 1}, {1}), "observation 17 has 2 channels and 1 exposures");
}

TEST(Observation, FromSparseEntriesIsThatFromAllCells) {
  Observation sparse;
  sparse.begin(6);
  sparse.add(1, 4);
  sparse.add(2, 0);
  sparse.add(3, kMissing);
  sparse.add(5, 2);
  const std::vector<double> exposures = {1, 0.5, 1, 2, 1, 0};
  sparse.set_exposures(exposures);
  const std::vector<double> counts = {0, 4, 0, kMissing, 0, 2};
  const Observation dense(counts, exposures);
  StreamDigest one;
  StreamDigest other;
  one.add(sparse);
  other.add(dense);
  EXPECT_EQ(one, other);
  EXPECT_THAT(sparse.channels(), ElementsAre(1));
  EXPECT_THAT(sparse.exposed(), ElementsAre(1, 3, 5));
}

TEST(Observation, WritesItsCellsBack) {
  const std::vector<double> exposures = {1, 2, 1};
  const Observation y(std::vector<double>{0, 3, kMissing}, exposures);
  std::vector<double> out(3);
  y.write_counts(out);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 3);
  EXPECT_TRUE(std::isnan(out[2]));
  y.write_exposures(out);
  EXPECT_THAT(out, ElementsAre(1, 2, 0));
}

TEST(Observation, LevelsMultiplyTheExposures) {
  const std::vector<double> exposures = {1, 2, 1, 1};
  Observation y(std::vector<double>{0, 3, kMissing, 4}, exposures);
  const Vector levels{{0.5, 3, 7, 1}};
  const Vector dispersions{{0.1, 0.2, 0.3, 0}};
  y.set_levels({levels, dispersions});
  EXPECT_THAT(y.exposed(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(y.exposures(), ElementsAre(0.5, 6, 0, 1));
  EXPECT_THAT(y.dispersions(), ElementsAre(0.1, 0.2, 0.3, 0));
  StateArchive archive;
  archive(y);
  StateArchive saved(archive.bytes());
  Observation read;
  saved(read);
  EXPECT_THAT(read.dispersions(), ElementsAre(0.1, 0.2, 0.3, 0));
  y.assign(std::vector<double>{1, 2});
  EXPECT_THAT(y.dispersions(), IsEmpty());
}

TEST(Observation, VisitsWhatWasSeen) {
  const std::vector<double> exposures = {1, 2, 1, 0.5};
  const Observation y(std::vector<double>{0, 3, kMissing, 4}, exposures);
  std::vector<double> visited;
  for_each_seen(y, [&](Index m, double count, double exposure) {
    visited.insert(visited.end(), {static_cast<double>(m), count, exposure});
  });
  EXPECT_THAT(visited, ElementsAre(0, 0, 1, 1, 3, 2, 3, 4, 0.5));
  visited.clear();
  for_each_count(y, [&](std::size_t j, double exposure) {
    visited.insert(visited.end(), {static_cast<double>(j), exposure});
  });
  EXPECT_THAT(visited, ElementsAre(0, 2, 1, 0.5));
}

TEST(Observation, ThatWasDamagedInAFileIsRefused) {
  Observation y(std::vector<double>{1, 2, 3});
  StateArchive archive;
  archive(y);
  std::string bytes = archive.bytes();
  // The number of channels comes first; with two of them channel 2 does not exist.
  bytes[0] = 2;
  StateArchive damaged(bytes);
  Observation read;
  EXPECT_THROW(damaged(read), InputError);
}

TEST(Record, GivesRatesForAnExposureOfOne) {
  Matrix counts(2, 3);
  counts << 4, 0, kMissing, 1, 6, 2;
  Matrix exposures(2, 3);
  exposures << 2, 1, 1, 1, 3, 0;
  const Record record(counts, exposures);
  const Matrix rates = record.first(3).rates();
  EXPECT_EQ(rates(0, 0), 2);
  EXPECT_EQ(rates(1, 1), 2);
  EXPECT_TRUE(std::isnan(rates(0, 2)));
  EXPECT_TRUE(std::isnan(rates(1, 2)));
  EXPECT_EQ(record.first(1).size(), 1);
}

}  // namespace
}  // namespace headwater
