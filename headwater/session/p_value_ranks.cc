#include "headwater/p_value_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "headwater/session/score_ranks.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

namespace {

constexpr std::size_t kStride = 77;  // 7 times 11

}  // namespace

PValueRanks::PValueRanks(std::size_t window, std::size_t num_standing_in)
    : most_(window), num_standing_in_(num_standing_in), num_left_(num_standing_in) {
  for (std::size_t i = 0; i < num_standing_in_; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(num_standing_in_);
    sorted_.push_back(-std::log(p));
  }
  // They leave the window in an order that keeps what is left uniform.
  for (std::size_t i = 0; i < num_standing_in_; ++i)
    window_.push_back(sorted_[i * kStride % num_standing_in_]);
}

double PValueRanks::rank(double p) const { return rank_among(sorted_, score_of_p(p)); }

// Once there are as many observations as numbers that stand in, each takes the place of one.
void PValueRanks::add(double p) {
  const double score = score_of_p(p);
  sorted_.insert(std::ranges::upper_bound(sorted_, score, std::greater{}), score);
  window_.push_back(score);
  const bool has_enough = window_.size() - num_left_ > num_standing_in_;
  const bool stands_in = num_left_ > 0;
  if (!(has_enough && stands_in) && window_.size() <= most_) return;
  sorted_.erase(std::ranges::lower_bound(sorted_, window_.front(), std::greater{}));
  window_.pop_front();
  if (stands_in) --num_left_;
}

void PValueRanks::exchange(StateArchive& archive) {
  std::vector<double> scores(window_.begin(), window_.end());
  auto left = static_cast<Index>(num_left_);
  archive(scores, left);
  if (!archive.is_reading()) return;
  const auto most = static_cast<std::size_t>(most_);
  archive.expect(scores.size() >= num_standing_in_ && scores.size() <= most + 1 && left >= 0 &&
                     left <= static_cast<Index>(num_standing_in_) &&
                     std::ranges::all_of(scores, [](double x) { return x >= 0 && x < 1e3; }),
                 "invalid p-values");
  num_left_ = static_cast<std::size_t>(left);
  window_.assign(scores.begin(), scores.end());
  sorted_ = std::move(scores);
  std::ranges::sort(sorted_, std::greater{});
}

}  // namespace headwater
