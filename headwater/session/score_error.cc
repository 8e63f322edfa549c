#include "headwater/score_error.hpp"

#include <cmath>

namespace headwater {

namespace {

constexpr std::size_t kMostBlocks = 64;

// Far from those that users choose.
std::uint64_t other_seed(std::uint64_t seed) { return seed ^ 0x9e3779b97f4a7c15; }

}  // namespace

void ScoreError::Blocks::add(double difference) {
  sum_ += difference;
  if (++size_ < length_) return;
  sums_.push_back(sum_);
  sum_ = 0;
  size_ = 0;
  if (sums_.size() < kMostBlocks) return;
  for (std::size_t i = 0; i < kMostBlocks / 2; ++i) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  sums_.resize(kMostBlocks / 2);
  length_ *= 2;
}

double ScoreError::Blocks::standard_error() const {
  double squares = sum_ * sum_;
  for (const double sum : sums_) squares += sum * sum;
  return std::sqrt(squares / 2);
}

ScoreError::ScoreError(const Estimate& estimate, bool background, const EngineConfig& engine,
                       std::uint64_t seed, std::int64_t phase)
    : twin_(std::in_place, estimate, background, engine, other_seed(seed)) {
  twin_->set_phase(phase);
}

void ScoreError::step(const Observation& y, const FilterStep& found, bool is_scored) {
  const std::optional<double> found_here = difference(y, found);
  if (is_scored && found_here) add(*found_here);
}

std::optional<double> ScoreError::difference(const Observation& y, const FilterStep& found) {
  if (!has_begun_) {
    has_begun_ = true;
    has_particles_ = found.particles() != nullptr;
    if (!has_particles_) twin_.reset();
  }
  if (!twin_) return {};
  const FilterStep other = twin_->step(y);
  if (found.impossible || other.impossible) return {};
  return found.log_predictive - other.log_predictive;
}

double ScoreError::standard_error() const { return blocks_.standard_error(); }

}  // namespace headwater
