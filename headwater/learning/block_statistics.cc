#include "headwater/learning/block_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/learning/profile_coordinates.hpp"

namespace headwater {

namespace {

// Batches that there are at most, and the numbers that they may have altogether.
constexpr Index kMostBatches = 1024;
constexpr Index kFewestBatches = 64;
constexpr Index kMostNumbers = Index{1} << 22;

Index most_batches(Index size) {
  return std::clamp(kMostNumbers / std::max<Index>(size, 1), kFewestBatches, kMostBatches);
}

// `unseen` comes last, and was zero before it was there.
void lengthen_with_zeros(Vector& values, Index size) {
  const Index before = values.size();
  if (before >= size) return;
  values.conservativeResize(size);
  values.tail(size - before).setZero();
}

}  // namespace

Vector BlockStatistics::flat(const Statistics& statistics) const {
  Index size = 0;
  for (const std::span<const double> part : statistics.sums()) {
    size += static_cast<Index>(part.size());
  }
  Vector values(size);
  Index at = 0;
  for (const std::span<const double> part : statistics.sums()) {
    const Eigen::Map<const Vector> numbers(part.data(), static_cast<Index>(part.size()));
    values.segment(at, numbers.size()) = numbers;
    at += numbers.size();
  }
  return values;
}

void BlockStatistics::begin(const Statistics& statistics, const Vector& estimate) {
  before_ = flat(statistics);
  phases_before_ = statistics.phases;
  estimate_ = estimate;
  entered_before_ = statistics.observations;
  has_begun_ = true;
}

void BlockStatistics::clear() {
  batches_.clear();
  has_begun_ = false;
}

void BlockStatistics::set_all(const std::vector<Statistics>& stretches, const Vector& estimate) {
  batches_.clear();
  waiting_.clear();
  Index longest = 0;
  for (const Statistics& stretch : stretches) {
    const double count = stretch.effective_count();
    Batch batch{count * flat(stretch), Vector(), count * estimate, std::llround(count)};
    longest = std::max(longest, batch.sums.size());
    batches_.push_back(std::move(batch));
  }
  for (Batch& batch : batches_) lengthen_with_zeros(batch.sums, longest);
  while (std::ssize(batches_) > most_batches(longest)) merge_neighbours();
  for (const Batch& batch : batches_) {
    least_observations_ = std::max(least_observations_, batch.observations);
  }
}

void BlockStatistics::add(const Statistics& statistics) {
  const auto entered =
      std::min<std::int64_t>(statistics.observations - entered_before_, std::ssize(waiting_));
  double kept = 1;
  for (std::int64_t i = 0; i < entered; ++i) kept *= 1 - waiting_[static_cast<std::size_t>(i)];
  waiting_.erase(waiting_.begin(), waiting_.begin() + entered);
  if (!(kept < 1)) return;
  const Vector after = flat(statistics);
  lengthen_with_zeros(before_, after.size());
  if (batches_.empty() || batches_.back().observations >= least_observations_) {
    if (std::ssize(batches_) >= most_batches(after.size())) merge_neighbours();
    batches_.emplace_back();
  }
  Batch& batch = batches_.back();
  lengthen_with_zeros(batch.sums, after.size());
  batch.sums += (after - kept * before_) * (static_cast<double>(entered) / (1 - kept));
  const Vector of_phases = sums_of_visits(phases_before_, statistics.phases);
  lengthen_with_zeros(batch.phases, of_phases.size());
  batch.phases += of_phases;
  lengthen_with_zeros(batch.estimates, estimate_.size());
  batch.estimates += static_cast<double>(entered) * estimate_;
  batch.observations += entered;
}

void BlockStatistics::merge_neighbours() {
  std::size_t to = 0;
  for (std::size_t i = 0; i + 1 < batches_.size(); i += 2, ++to) {
    Batch merged = std::move(batches_[i]);
    const Batch& next = batches_[i + 1];
    lengthen_with_zeros(merged.sums, next.sums.size());
    merged.sums.head(next.sums.size()) += next.sums;
    merged.phases += next.phases;
    merged.estimates += next.estimates;
    merged.observations += next.observations;
    batches_[to] = std::move(merged);
  }
  if (batches_.size() % 2 == 1) batches_[to++] = std::move(batches_.back());
  batches_.resize(to);
  least_observations_ = std::max(2 * least_observations_, batches_.front().observations);
}

std::vector<BlockStatistics::Batch> BlockStatistics::without_first(double part) const {
  double all = 0;
  for (const Batch& batch : batches_) all += static_cast<double>(batch.observations);
  std::vector<Batch> kept;
  double passed = 0;
  for (const Batch& batch : batches_) {
    if (passed >= part * all) kept.push_back(batch);
    passed += static_cast<double>(batch.observations);
  }
  if (kept.empty()) return kept;
  for (Batch& batch : kept) lengthen_with_zeros(batch.sums, kept.back().sums.size());
  return kept;
}

void BlockStatistics::exchange(StateArchive& archive) {
  auto num_periods = static_cast<Index>(phases_before_.size());
  archive.count(num_periods);
  phases_before_.resize(static_cast<std::size_t>(num_periods));
  archive(least_observations_, waiting_, has_begun_, before_, phases_before_, estimate_,
          entered_before_, batches_);
  if (!archive.is_reading()) return;
  const auto is_right = [](const Batch& batch) {
    return batch.observations > 0 && is_count(batch.observations) && batch.sums.allFinite() &&
           batch.phases.allFinite() && batch.estimates.allFinite();
  };
  archive.expect(std::ranges::all_of(batches_, is_right) && before_.allFinite() &&
                     estimate_.allFinite() && is_count(least_observations_) &&
                     is_count(entered_before_),
                 "invalid blocks of statistics");
  archive.expect(std::ranges::all_of(waiting_, [](double w) { return w >= 0 && w <= 1; }),
                 "an invalid weight");
}

bool BlockStatistics::fits(const Statistics& statistics, Index estimate_size) const {
  const Index shortest =
      statistics.s1.size() + statistics.s2.size() + statistics.s3.size() + statistics.s4.size();
  const auto is_right = [&](const Vector& values) {
    return values.size() == shortest || values.size() == shortest + statistics.s2.size();
  };
  const bool longer_at_last =
      std::ranges::is_sorted(batches_, {}, [](const Batch& batch) { return batch.sums.size(); });
  const auto is_of_size = [&](const Vector& values) { return values.size() == estimate_size; };
  const auto is_same_period = [](const PhaseSums& a, const PhaseSums& b) {
    return a.counts.rows() == b.counts.rows() && a.counts.cols() == b.counts.cols() &&
           a.expected.rows() == b.counts.rows() && a.expected.cols() == b.counts.cols() &&
           a.visits.size() == b.visits.size();
  };
  Index phases = 0;
  for (const PhaseSums& sums : statistics.phases) phases += 2 * sums.counts.size();
  const auto has_phases = [&](const Vector& values) { return values.size() == phases; };
  return (!has_begun_ || (is_right(before_) && is_of_size(estimate_) &&
                          std::ranges::equal(phases_before_, statistics.phases, is_same_period))) &&
         longer_at_last && std::ranges::all_of(batches_, has_phases, &Batch::phases) &&
         std::ranges::all_of(batches_, is_of_size, &Batch::estimates) &&
         std::ranges::all_of(batches_, is_right, &Batch::sums);
}

}  // namespace headwater
