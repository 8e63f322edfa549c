#include "headwater/session/contender.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

constexpr std::int64_t kFirstSearch = 50;
constexpr std::int64_t kSecondSearch = 200;
constexpr std::int64_t kThirdSearch = 1000;  // and from there on four times as many each time

constexpr std::int64_t kMeansADoubling = 32;
constexpr std::int64_t kMostCellsOfMean = std::int64_t{1} << 22;

bool is_light_search(std::int64_t n) {
  std::int64_t next = kThirdSearch;
  while (next < n) next *= 4;
  return n == kFirstSearch || n == kSecondSearch || n == next;
}

}  // namespace

StepReport Contender::step(const Observation& y, bool predicts_by_average,
                           const OnlineEm::BeforeMStep& before_m_step) {
  // Not at the end of the step before: its predictions were still to be published.
  if (average && average->is_in_vain()) {
    average.reset();
    trials.end_in_vain(learner.observations());
  }
  if (average && !average->is_on_trial()) trials.succeed();
  FilterStep by_average;
  if (average) by_average = average->step(y, learner.next_step_size());
  StepReport made = learner.update(y, before_m_step);
  if (average) {
    average->compare(by_average, made.filter);
    made.by_average = average->leads();
    if (made.by_average) {  // the rest is the report of the particles that are learned from
      made.filter.log_predictive = by_average.log_predictive;
      made.filter.impossible = by_average.impossible;
    }
  }
  if (made.updated && predicts_by_average) follow_average();
  return made;
}

void Contender::finish() {
  learner.finish();
  if (average) follow_average();
}

void Contender::take_up(Estimate estimate, const OnlineEm::StatisticsOf& statistics_of) {
  if (learner.take_up(std::move(estimate), statistics_of) && average) follow_average();
}

// A component that was given a new column has ended the average.
void Contender::follow_average() {
  if (!learner.has_average()) {
    average.reset();
  } else if (average) {
    average->follow(learner);
  } else if (trials.is_due(learner.observations())) {
    average.emplace(learner);
  }
}

void Contender::exchange_average(StateArchive& archive) {
  bool is_there = average.has_value();
  archive(trials, is_there);
  if (!is_there) return average.reset();
  archive.expect(learner.has_average(), "an average of nothing");
  if (!average) average.emplace(learner);
  archive(*average);
}

void Race::add(const FilterStep& leader, const FilterStep& rival) {
  const double gain = bounded_log_predictive(rival) - bounded_log_predictive(leader);
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

bool is_look_due(std::int64_t n, std::int64_t full) {
  if (full <= 0) return false;
  std::int64_t next = 2 * full;
  while (next < n) next *= 2;
  return n == next;
}

bool is_mean_due(std::int64_t n, Index num_channels) {
  if (n < 2 || n > kMostCellsOfMean / num_channels) return false;
  std::int64_t every = 1;
  while (n >= kMeansADoubling * 2 * every) every *= 2;
  return n % every == 0;
}

double log_probability_of_first(const Observation& y) {
  double sum = 0;
  for_each_seen(
      y, [&](Index, double count, double) { sum -= std::log1p(count) + std::log(count + 2); });
  return sum;
}

}  // namespace headwater
