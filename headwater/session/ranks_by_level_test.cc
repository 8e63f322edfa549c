#include "headwater/ranks_by_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "headwater/random.hpp"
#include "headwater/session/score_ranks.hpp"

namespace headwater {
namespace {

struct Row {
  double level;
  double p;
};

// All rows sorted by their distance. Of equal distances lower levels come first, and of rows of one
// level the one that is met first on the way from the level outward.
double plain_rank(const std::vector<Row>& rows, double p, double level) {
  using Key = std::tuple<double, bool, double>;
  std::vector<std::pair<Key, double>> near;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_above = rows[i].level > level;
    const auto order = static_cast<double>(i);
    near.push_back({{std::abs(rows[i].level - level), is_above, is_above ? order : -order},
                    score_of_p(rows[i].p)});
  }
  std::ranges::sort(near);
  std::vector<double> scores;
  for (std::size_t i = 0; i < RanksByLevel::kNear; ++i) scores.push_back(near[i].second);
  std::ranges::sort(scores, std::greater{});
  return rank_among(scores, score_of_p(p));
}

TEST(RanksByLevel, AreThoseAmongTheNearestRowsOfTheWindow) {
  constexpr std::size_t kWindow = 250;
  RanksByLevel ranks(kWindow);
  std::vector<Row> rows;
  Generator generator = RandomStream(6).at(0, 0, Purpose::observation);
  for (int i = 0; i < 800; ++i) {
    const double drawn = 6 * generator.uniform();
    const Row row{i % 2 == 0 ? std::floor(drawn) : drawn, generator.uniform()};
    if (rows.size() >= RanksByLevel::kNear) {
      ASSERT_EQ(ranks.rank(row.p, row.level), plain_rank(rows, row.p, row.level)) << i;
    }
    ranks.add(row.p, row.level);
    rows.push_back(row);
    if (rows.size() > kWindow) rows.erase(rows.begin());
  }
}

TEST(RanksByLevel, BeginAsThoseAmongAllRows) {
  RanksByLevel ranks;
  PValueRanks all;
  Generator generator = RandomStream(7).at(0, 0, Purpose::observation);
  for (std::size_t i = 0; i < RanksByLevel::kNear; ++i) {
    const double p = generator.uniform();
    EXPECT_EQ(ranks.rank(p, generator.uniform()), all.rank(p));
    ranks.add(p, generator.uniform());
    all.add(p);
  }
}

// By night the p-values of a model are uniform, by day they are fourth powers of uniform numbers.
// Ranks below .1 are as frequent in both. They are nearly independent: of 3000 each, 300 are
// expected, and each share has a standard error of 16.4 by itself, and of 30 by the 100 rows that
// it is ranked among if all were the same. Each bound is five times the sum of the squares' root,
// a false alarm of 6e-7 for each of the two.
TEST(RanksByLevel, AreWorthTheSameAtEachLevel) {
  RanksByLevel ranks;
  Generator generator = RandomStream(8).at(0, 0, Purpose::observation);
  std::array<int, 2> below{};
  for (int i = 0; i < 8000; ++i) {
    const int is_day = i / 12 % 2;
    const double level = 3.0 * is_day + generator.uniform();
    const double p = std::pow(generator.uniform(), is_day == 1 ? 4 : 1);
    if (i >= 2000) below[static_cast<std::size_t>(is_day)] += ranks.rank(p, level) < 0.1 ? 1 : 0;
    ranks.add(p, level);
  }
  for (const int count : below) EXPECT_NEAR(count, 300, 171);
}

}  // namespace
}  // namespace headwater
