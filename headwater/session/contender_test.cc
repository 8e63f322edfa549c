#include "headwater/session/contender.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace headwater {
namespace {

std::map<std::int64_t, Rung> rungs(std::int64_t full, bool searches) {
  std::map<std::int64_t, Rung> found;
  for (std::int64_t n = 0; n <= 2 * full; ++n) {
    const Rung rung = rung_at(n, full, searches);
    if (rung != Rung::kNone) found[n] = rung;
  }
  return found;
}

TEST(Rungs, SearchesComeEverMoreRarely) {
  constexpr Rung p = Rung::kProvisional;
  constexpr Rung s = Rung::kSearch;
  constexpr Rung f = Rung::kFull;
  using Rungs = std::map<std::int64_t, Rung>;
  EXPECT_EQ(rungs(1, true), (Rungs{{1, f}}));
  EXPECT_EQ(rungs(20, true),
            (Rungs{{2, p}, {3, p}, {4, p}, {6, p}, {8, p}, {12, p}, {16, p}, {20, f}}));
  EXPECT_EQ(rungs(0, false), (Rungs{{0, f}}));
  const auto searched = [&](std::int64_t full, bool searches) {
    Rungs found = rungs(full, searches);
    std::erase_if(found, [&](const auto& rung) { return rung.second == p; });
    return found;
  };
  EXPECT_EQ(searched(1000, true), (Rungs{{50, s}, {200, s}, {1000, f}}));
  EXPECT_EQ(searched(4000, true), (Rungs{{50, s}, {200, s}, {1000, s}, {4000, f}}));
  EXPECT_EQ(searched(40000, true),
            (Rungs{{50, s}, {200, s}, {1000, s}, {4000, s}, {16000, s}, {40000, f}}));
  // None shortly before the last, and none where nothing is searched for.
  EXPECT_EQ(searched(99, true), (Rungs{{99, f}}));
  EXPECT_EQ(searched(1000, false), (Rungs{{1000, f}}));
}

TEST(Means, AreTakenUpOftenAndCostLittle) {
  for (std::int64_t n = 2; n <= 64; ++n) EXPECT_TRUE(is_mean_due(n, 1000)) << n;
  EXPECT_FALSE(is_mean_due(1, 1000));  // the first start is of the first observation
  std::map<std::int64_t, int> times;   // by the power of two below
  for (std::int64_t n = 64; n < 4096; ++n) {
    std::int64_t power = 64;
    while (2 * power <= n) power *= 2;
    times[power] += is_mean_due(n, 1000) ? 1 : 0;
  }
  for (const auto& [power, count] : times) EXPECT_EQ(count, 32) << power;
  EXPECT_TRUE(is_mean_due(4, 1'000'000));
  EXPECT_FALSE(is_mean_due(5, 1'000'000));
}

FilterStep predicted(double log_predictive, bool impossible = false) {
  FilterStep step;
  step.log_predictive = impossible ? -std::numeric_limits<double>::infinity() : log_predictive;
  step.impossible = impossible;
  return step;
}

TEST(Race, GoesToWhoPredictsBetter) {
  Race race(110, 0);
  EXPECT_FALSE(race.is_over(109));
  EXPECT_TRUE(race.is_over(110));
  EXPECT_FALSE(race.rival_wins());  // nobody has predicted anything
  for (int t = 0; t < 10; ++t) race.add(predicted(-3), predicted(t % 2 == 0 ? -2 : -3.5));
  EXPECT_TRUE(race.rival_wins());
  for (int t = 0; t < 10; ++t) race.add(predicted(-3), predicted(-4));
  EXPECT_FALSE(race.rival_wins());
}

// Gains of 1 and -0.5 in turn: their sum over n is n / 4, its standard error about 0.75 sqrt(n).
TEST(Race, MayHaveToBeWonClearly) {
  Race race(110, 3);
  for (int t = 0; t < 50; ++t) race.add(predicted(-3), predicted(t % 2 == 0 ? -2 : -3.5));
  EXPECT_FALSE(race.rival_wins());
  for (int t = 0; t < 150; ++t) race.add(predicted(-3), predicted(t % 2 == 0 ? -2 : -3.5));
  EXPECT_TRUE(race.rival_wins());
}

TEST(Race, IsLostByWhatWasHeldToBeImpossible) {
  Race race(110, 0);
  for (int t = 0; t < 10; ++t) race.add(predicted(-30), predicted(-3));
  race.add(predicted(-30), predicted(0, true));
  EXPECT_FALSE(race.rival_wins());
}

TEST(Race, IsTheSameAfterABreak) {
  Race race(20, 1);
  for (int t = 0; t < 10; ++t) race.add(predicted(-3), predicted(-2 - 0.1 * t));
  StateArchive saved;
  saved(race);
  Race other;
  StateArchive read(saved.bytes());
  read(other);
  StateArchive again;
  again(other);
  EXPECT_EQ(again.bytes(), saved.bytes());
  EXPECT_EQ(other.rival_wins(), race.rival_wins());
}

// Of two cells, one of them missing: a law of the other one. The probabilities of 0 .. n sum up to
// 1 - 1 / (n + 2).
TEST(FirstObservation, HasAProbability) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (int n = 0; n <= 1000; ++n) {
    sum += std::exp(log_probability_of_first(Observation(std::vector<double>{1.0 * n, nan})));
  }
  EXPECT_NEAR(sum, 1 - 1.0 / 1002, 1e-12);
  const double both = log_probability_of_first(Observation(std::vector<double>{3, 5}));
  EXPECT_NEAR(both, -std::log(4 * 5) - std::log(6 * 7), 1e-12);
}

}  // namespace
}  // namespace headwater
