#include "headwater/session/contender.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

constexpr std::int64_t kFirstSearch = 50;
constexpr std::int64_t kSecondSearch = 200;
constexpr std::int64_t kThirdSearch = 1000;  // and from there on four times as many each time
// log p of what a fit took to be impossible.
constexpr double kLogImpossible = -1e6;

bool is_light_search(std::int64_t n) {
  std::int64_t next = kThirdSearch;
  while (next < n) next *= 4;
  return n == kFirstSearch || n == kSecondSearch || n == next;
}

double logarithm_of(const FilterStep& step) {
  return step.impossible ? kLogImpossible : std::max(step.log_predictive, kLogImpossible);
}

}  // namespace

void Race::add(const FilterStep& leader, const FilterStep& rival) {
  const double gain = logarithm_of(rival) - logarithm_of(leader);
  ++count_;
  sum_ += gain;
  squares_ += gain * gain;
}

bool Race::rival_wins() const {
  if (count_ < 2) return false;
  const double variance = std::max(squares_ - sum_ * sum_ / count_, 0.0) / (count_ - 1);
  return sum_ > standard_errors_ * std::sqrt(variance * count_);
}

void Race::exchange(StateArchive& archive) {
  archive(last_, standard_errors_, count_, sum_, squares_);
  archive.expect(std::isfinite(standard_errors_) && std::isfinite(count_) && count_ >= 0 &&
                     std::isfinite(sum_) && std::isfinite(squares_),
                 "a race that cannot be won");
}

Rung rung_at(std::int64_t n, std::int64_t full, bool searches) {
  if (n == full) return Rung::kFull;
  if (n < 1 || n > full) return Rung::kNone;
  if (searches && 2 * n <= full && is_light_search(n)) return Rung::kSearch;
  // 2, 3, 4, 6, 8, 12, ...: a mean that leaves out half of what has come is late.
  const std::int64_t of_twos = n % 3 == 0 ? n / 3 : n;
  const bool is_due = n > 1 && (of_twos & (of_twos - 1)) == 0;
  return is_due ? Rung::kProvisional : Rung::kNone;
}

double log_probability_of_first(const Observation& y) {
  double sum = 0;
  for_each_seen(
      y, [&](Index, double count, double) { sum -= std::log1p(count) + std::log(count + 2); });
  return sum;
}

}  // namespace headwater
