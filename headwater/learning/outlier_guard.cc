#include "headwater/learning/outlier_guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headwater {

namespace {

// A count is far above others if it is above this multiple of them, or of kFew where they are few.
constexpr double kFar = 10;
constexpr double kFew = 10;
// In the first observation, which has others only beside it: above this multiple of the median.
constexpr double kFarAtFirst = 1000;
constexpr double kLogOnce = -27.6;  // log 1e-12
// Outliers this close to one another count as following each other.
constexpr std::int64_t kClose = 3;
constexpr std::int64_t kMostInARow = 4;

double bound_after(double largest) { return kFar * std::max(largest, kFew); }

// Of the counts that are not 0, over their exposures.
double median_rate(const Observation& y) {
  std::vector<double> rates;
  for_each_count(
      y, [&](std::size_t j, double exposure) { rates.push_back(y.counts()[j] / exposure); });
  if (rates.empty()) return 0;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / 2);
  std::ranges::nth_element(rates, middle);
  return *middle;
}

}  // namespace

bool OutlierGuard::suspects(const Observation& y) {
  if (largest_.size() == 0) largest_.setZero(y.num_channels());
  bool is_high = false;
  for_each_count(y, [&](std::size_t j, double exposure) {
    is_high |= y.counts()[j] / exposure > bound_after(largest_[y.channels()[j]]);
  });
  const double of_others = is_high ? largest_of_all(y) : 0;
  bool is_far = false;
  for_each_count(y, [&](std::size_t j, double exposure) {
    const double rate = y.counts()[j] / exposure;
    double& largest = largest_[y.channels()[j]];
    if (is_high && rate > bound_after(largest > 0 ? largest : of_others)) {
      is_far = true;
    } else {
      largest = std::max(largest, rate);
    }
  });
  return is_far;
}

double OutlierGuard::largest_of_all(const Observation& y) const {
  const double largest = largest_.maxCoeff();
  return largest > 0 ? largest : kFarAtFirst / kFar * std::max(median_rate(y), kFew);
}

bool OutlierGuard::refuses(const Observation& y, const Emission& emission,
                           const Vector& activations, std::int64_t t) {
  const double of_others = largest_of_all(y);
  bool is_outlier = false;
  for_each_count(y, [&](std::size_t j, double exposure) {
    const Index m = y.channels()[j];
    const double bound = bound_after(largest_[m] > 0 ? largest_[m] : of_others);
    is_outlier =
        is_outlier || (y.counts()[j] > exposure * bound &&
                       is_beyond_reason(m, y.counts()[j], exposure, emission, activations, t));
  });
  if (is_outlier) {
    const bool follows = last_refused_ > 0 && t - last_refused_ <= kClose;
    refused_in_a_row_ = follows ? refused_in_a_row_ + 1 : 1;
    last_refused_ = t;
    if (refused_in_a_row_ <= kMostInARow) return true;
  }
  for_each_count(y, [&](std::size_t j, double exposure) {
    double& largest = largest_[y.channels()[j]];
    largest = std::max(largest, y.counts()[j] / exposure);
  });
  return false;
}

void OutlierGuard::merge(const OutlierGuard& other) {
  if (other.largest_.size() == 0) return;
  largest_ = largest_.size() == 0 ? other.largest_ : Vector(largest_.cwiseMax(other.largest_));
}

bool OutlierGuard::is_beyond_reason(Index channel, double count, double exposure,
                                    const Emission& emission, const Vector& activations,
                                    std::int64_t t) {
  std::vector<double> counts(static_cast<std::size_t>(emission.num_channels()),
                             std::numeric_limits<double>::quiet_NaN());
  std::vector<double> exposures(counts.size(), 1);
  counts[static_cast<std::size_t>(channel)] = count;
  exposures[static_cast<std::size_t>(channel)] = exposure;
  single_.assign(counts, exposures);
  emission.look_at(single_, evidence_);
  evidence_.gather_rows();
  const Matrix larger = kFar * activations.transpose();
  double log_density = 0;
  evidence_.log_likelihoods(larger, {&log_density, 1});
  log_density += emission.log_base_measure(single_);
  const double cells = static_cast<double>(t) * static_cast<double>(emission.num_channels());
  return !(log_density > kLogOnce - std::log(cells));
}

Record without_lone_giants(const RecordView& observations) {
  const Index channels = observations.num_channels();
  Vector largest = Vector::Zero(channels);
  Vector second = Vector::Zero(channels);
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    for (std::size_t j = 0; j < y.channels().size(); ++j) {
      const Index m = y.channels()[j];
      second[m] = std::max(second[m], std::min(largest[m], y.counts()[j]));
      largest[m] = std::max(largest[m], y.counts()[j]);
    }
  }
  Record kept;
  Observation missing;
  missing.assign_missing(channels);
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    bool has_giant = false;
    for (std::size_t j = 0; j < y.channels().size(); ++j) {
      const Index m = y.channels()[j];
      has_giant |= y.counts()[j] == largest[m] && largest[m] > kFar * bound_after(second[m]);
    }
    missing.set_begins_sequence(y.begins_sequence());
    kept.add(has_giant ? missing : y);
  }
  return kept;
}

}  // namespace headwater
