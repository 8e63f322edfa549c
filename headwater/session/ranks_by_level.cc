#include "headwater/ranks_by_level.hpp"

#include <algorithm>
#include <functional>

#include "headwater/session/score_ranks.hpp"

namespace headwater {

double RanksByLevel::rank(double p, double level) const {
  if (by_level_.size() < kNear) return all_.rank(p);
  std::vector<double> scores = scores_near(level);
  std::ranges::sort(scores, std::greater{});
  return rank_among(scores, score_of_p(p));
}

// From the level on to both sides, the nearer one first. Of rows of this very level the latest are
// taken.
std::vector<double> RanksByLevel::scores_near(double level) const {
  auto above = std::ranges::upper_bound(by_level_, level, {}, &Row::level);
  auto below = above;
  std::vector<double> scores;
  scores.reserve(kNear);
  while (scores.size() < kNear) {
    const bool goes_down =
        above == by_level_.end() ||
        (below != by_level_.begin() && level - (below - 1)->level <= above->level - level);
    scores.push_back(goes_down ? (--below)->score : (above++)->score);
  }
  return scores;
}

void RanksByLevel::add(double p, double level) {
  all_.add(p);
  by_level_.insert(std::ranges::upper_bound(by_level_, level, {}, &Row::level),
                   {level, score_of_p(p)});
  in_time_.push_back(level);
  if (in_time_.size() <= most_) return;
  by_level_.erase(std::ranges::lower_bound(by_level_, in_time_.front(), {}, &Row::level));
  in_time_.pop_front();
}

}  // namespace headwater
