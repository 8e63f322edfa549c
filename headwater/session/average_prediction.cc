#include "headwater/session/average_prediction.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/state_checks.hpp"

namespace headwater {

namespace {

// log p of what a fit took to be impossible.
constexpr double kLogImpossible = -1e6;

// Standard errors by which the average must be better at the end of its trial, and later on. A gain
// that cannot be told from none is not worth the time.
constexpr double kErrorsToPass = 2;
constexpr double kErrorsToStay = 1;

// Trials never stop altogether.
constexpr std::int64_t kLongestRest = std::int64_t{1} << 40;

}  // namespace

double bounded_log_predictive(const FilterStep& step) {
  return step.impossible ? kLogImpossible : std::max(step.log_predictive, kLogImpossible);
}

void AveragePrediction::compare(const FilterStep& by_average, const FilterStep& by_last) {
  constexpr double kKept = 1 - 1 / static_cast<double>(kMemory);
  const double gain = bounded_log_predictive(by_average) - bounded_log_predictive(by_last);
  ++compared_;
  gain_ = kKept * gain_ + gain;
  variance_ = kKept * kKept * variance_ + gain * gain;
}

bool AveragePrediction::is_in_vain() const {
  if (is_on_trial()) return false;
  const double least = compared_ == kMemory ? kErrorsToPass : kErrorsToStay;
  return gain_ <= least * std::sqrt(variance_);
}

void AveragePrediction::exchange(StateArchive& archive) {
  archive(filter_, compared_, gain_, variance_, leads_);
  archive.expect(is_count(compared_) && std::isfinite(gain_) && variance_ >= 0, "an invalid gain");
}

void AverageTrials::end_in_vain(std::int64_t observations) {
  next_ = observations + rest_;
  rest_ = std::min(2 * rest_, kLongestRest);
}

void AverageTrials::exchange(StateArchive& archive) {
  archive(rest_, next_);
  archive.expect(rest_ > 0 && rest_ <= kLongestRest && is_count(next_), "a trial at no time");
}

}  // namespace headwater
