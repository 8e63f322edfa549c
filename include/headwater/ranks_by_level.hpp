#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/p_value_ranks.hpp"

namespace headwater {

// Ranks p-values among those of rows that were alike: the kNear of the last `window` rows whose
// levels are nearest. A level is known before its row; for an alarm it is the logarithm of the
// expected total. A model may be wrong in another way at each level. Where p-values are small in
// many rows, one more says little; where they hardly ever are, it says more than its rank among
// rows of all levels. Before there are kNear rows, p-values are ranked among all of them
// (PValueRanks).
class HEADWATER_EXPORT RanksByLevel {
 public:
  static constexpr std::size_t kNear = 100;

  explicit RanksByLevel(std::size_t window = 2000) : most_(window), all_(window) {}
  double rank(double p, double level) const;
  void add(double p, double level);

 private:
  struct Row {
    double level;
    double score;  // -log p
  };
  std::vector<double> scores_near(double level) const;

  std::size_t most_;
  PValueRanks all_;
  std::vector<Row> by_level_;   // of equal levels the oldest first
  std::deque<double> in_time_;  // their levels, in the order in which they came
};

}  // namespace headwater
