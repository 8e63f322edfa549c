#include "headwater/session/against_mean.hpp"

#include <algorithm>
#include <array>

#include "headwater/observation.hpp"

namespace headwater {

namespace {

constexpr Index kCellsAnObservation = 256;
// After so many observations, one of eight is compared.
constexpr std::int64_t kAllUpTo = 4096;
constexpr Index kPart = 8;

}  // namespace

void AgainstMean::add(const StepReport& report) {
  const Observation& y = *report.observation;
  if (report.is_outlier || !y.any_seen()) return;
  Index every = (y.num_channels() + kCellsAnObservation - 1) / kCellsAnObservation;
  if (report.t > kAllUpTo) every = std::max(every, kPart);
  if (report.t % every == 0) {
    // Also where it is not compared: to know how counts scatter.
    const double log_probability = mean_.predict(y);
    if (!report.provisional) scores_.add(std::array{report.filter.log_predictive, log_probability});
  }
  mean_.add(y);
}

GainOverMean AgainstMean::gain() const {
  if (scores_.observations() == 0) return {};
  const Gain gain = scores_.difference(0, 1);
  return {gain.mean, gain.standard_error, scores_.observations()};
}

}  // namespace headwater
