#include "headwater/session/paired_scores.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "headwater/core/state_checks.hpp"

namespace headwater {

void PairedScores::add(std::span<const double> log_probabilities) {
  assert(std::ssize(log_probabilities) == num_candidates());
  if (!std::ranges::all_of(log_probabilities, [](double value) { return std::isfinite(value); })) {
    ++left_out_;
    return;
  }
  ++observations_;
  sums_.col(full_) += Eigen::Map<const Vector>(log_probabilities.data(), num_candidates());
  if (++filled_ < length_) return;
  filled_ = 0;
  if (++full_ == kMostBatches) join_neighbours();
}

void PairedScores::join_neighbours() {
  full_ = kMostBatches / 2;
  for (Index i = 0; i < full_; ++i) sums_.col(i) = sums_.col(2 * i) + sums_.col(2 * i + 1);
  sums_.rightCols(kMostBatches - full_).setZero();
  length_ *= 2;
}

double PairedScores::mean(Index candidate) const {
  return observations_ > 0 ? sums_.row(candidate).sum() / static_cast<double>(observations_) : 0;
}

Gain PairedScores::difference(Index candidate, Index other) const {
  Gain gain{mean(candidate) - mean(other), 0};
  if (candidate == other) return gain;
  if (full_ < kFewestBatches) {
    gain.standard_error = std::numeric_limits<double>::infinity();
    return gain;
  }
  const Eigen::ArrayXd means =
      (sums_.row(candidate) - sums_.row(other)).head(full_).transpose().array() /
      static_cast<double>(length_);
  const auto batches = static_cast<double>(full_);
  gain.standard_error =
      std::sqrt((means - means.mean()).square().sum() / (batches * (batches - 1)));
  return gain;
}

Index PairedScores::best() const {
  Index best = 0;
  for (Index i = 1; i < num_candidates(); ++i) {
    if (mean(i) > mean(best)) best = i;
  }
  return best;
}

Index PairedScores::first_as_good_as_best(double margin) const {
  const Index best_one = best();
  for (Index i = 0; i < best_one; ++i) {
    const Gain gain = difference(i, best_one);
    if (gain.mean + std::max(gain.standard_error, margin) >= 0) return i;
  }
  return best_one;
}

void PairedScores::exchange(StateArchive& archive) {
  archive(sums_, full_, filled_, length_, observations_, left_out_);
  archive.expect(full_ >= 0 && full_ < kMostBatches && filled_ >= 0 && length_ >= 1 &&
                     filled_ < length_ && is_count(length_) && is_count(observations_) &&
                     is_count(left_out_) && sums_.allFinite(),
                 "invalid batches of scores");
}

}  // namespace headwater
