#include "headwater/io/timed_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;
using testing::Optional;

TimedSource open_timed(const TestFolder& folder, const std::string& text, std::int64_t max_gap = 10,
                       const SourceMemory& memory = {}) {
  folder.write("t.csv", text);
  return TimedSource(
      open_source(folder.path("t.csv"),
                  {.header = HeaderRow::absent, .time_column = "1", .memory = memory}),
      max_gap, memory);
}

// "time count", a row; a missing cell is a dash.
std::vector<std::string> rows_of(TimedSource& source) {
  std::vector<std::string> rows;
  Observation y;
  while (source.next(y)) {
    const std::string count = y.any_seen() ? y.counts().empty() ? "0" : "1" : "-";
    rows.push_back(source.text_of(y.time()) + " " + count + (source.is_filled() ? " filled" : ""));
  }
  return rows;
}

TEST(TimedSource, FillsGapsWithMissingCells) {
  const TestFolder folder;
  TimedSource source = open_timed(folder, "1,1\n3,0\n9,1\n11,1\n");
  EXPECT_EQ(source.num_channels(), 1);
  EXPECT_THAT(rows_of(source),
              ElementsAre("1 1", "3 0", "5 - filled", "7 - filled", "9 1", "11 1"));
  EXPECT_EQ(source.text_after(2), "15");
}

TEST(TimedSource, KnowsItsStepBeforeTheFirstObservation) {
  const TestFolder folder;
  TimedSource source = open_timed(folder, "2026-01-01T00:00,1\n2026-01-01T00:15,0\n");
  EXPECT_THAT(source.seconds_a_row(), Optional(900.0));
  EXPECT_THAT(rows_of(source), ElementsAre("2026-01-01T00:00 1", "2026-01-01T00:15 0"));
  TimedSource numbers = open_timed(folder, "1,1\n2,1\n");
  EXPECT_EQ(numbers.seconds_a_row(), std::nullopt);
  TimedSource single = open_timed(folder, "2026-01-01,1\n");
  EXPECT_EQ(folder.shorten(message_of([&] { single.seconds_a_row(); })),
            "t.csv:1: ends before two rows say how long a step is");
}

TEST(TimedSource, GoesOnAfterARowThatIsRefused) {
  const TestFolder folder;
  TimedSource source = open_timed(folder, "1,1\n2,1\n2,1\n2.5,1\nnever,1\n3,0\n");
  std::vector<double> values;
  source.next(values);
  source.next(values);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(source.next(values), BadRow);
  EXPECT_TRUE(source.next(values));
  EXPECT_EQ(source.time(), 3);
}

// Wherever a pipe is cut off, also inside a gap, the rest gives the same rows.
TEST(TimedSource, GoesOnFromItsMemory) {
  const TestFolder folder;
  const std::string text = "10,1\n20,0\n50,1\n60,1\n";
  TimedSource whole = open_timed(folder, text);
  const std::vector<std::string> wanted = rows_of(whole);
  ASSERT_EQ(wanted.size(), 6u);
  const std::size_t bytes_given[] = {0, 5, 10, 10, 10, 15};  // those before are done with
  for (std::size_t cut = 1; cut < 6; ++cut) {
    for (const bool with_last_row : {false, true}) {
      TimedSource source = open_timed(folder, text);
      std::vector<double> values;
      for (std::size_t i = 0; i < cut; ++i) source.next(values);
      SourceMemory memory;
      source.remember(memory, with_last_row);
      const std::size_t done = cut - (with_last_row ? 1 : 0);
      if (done == 0) continue;
      TimedSource rest = open_timed(folder, text.substr(bytes_given[done]), 10, memory);
      const std::vector<std::string> found = rows_of(rest);
      EXPECT_EQ(found, std::vector<std::string>(wanted.begin() + static_cast<std::ptrdiff_t>(done),
                                                wanted.end()))
          << cut << with_last_row;
    }
  }
}

}  // namespace
}  // namespace headwater
