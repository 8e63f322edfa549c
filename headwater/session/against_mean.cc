#include "headwater/session/against_mean.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "headwater/learning/law_choice.hpp"
#include "headwater/observation.hpp"
#include "headwater/session/average_prediction.hpp"

namespace headwater {

namespace {

constexpr Index kCellsAnObservation = 256;
// Every observation is compared up to 4,096 of them, then one of 8, and ever fewer, down to one of
// 64: whether a fit predicts better than a mean is known by then, and a comparison costs a third of
// a step of the exact engine.
constexpr std::int64_t kAllUpTo = 4096;
constexpr std::int64_t kFewest = 64;

// If the fit's law is right, the product of what the mean has over the fit's probabilities exceeds
// e^20 with a probability of e^-20 at most. It never is quite right: hence the second number, in
// nats a channel.
constexpr double kFarBehind = 20;
constexpr double kFarBehindAChannel = 0.1;

Index interval_at(std::int64_t t) {
  if (t <= kAllUpTo) return 1;
  const auto grown = static_cast<std::uint64_t>(t / (kAllUpTo / 8));
  return std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(grown)), kFewest);
}

}  // namespace

void AgainstMean::add(const StepReport& report, Losses losses) {
  const Observation& y = *report.observation;
  if (report.is_outlier || !y.any_seen()) return;
  const Index by_channels = (y.num_channels() + kCellsAnObservation - 1) / kCellsAnObservation;
  const Index every = std::max(by_channels, interval_at(report.t));
  const bool with_recent = losses == Losses::kToRecent;
  if (report.t % every == 0) {
    // Also where it is not compared: to know how counts scatter.
    const double by_mean = mean_.predict(y);
    const double by_recent = with_recent ? recent_mean_.predict(y) : 0;
    if (!report.provisional) {
      scores_.add(std::array{report.filter.log_predictive, by_mean});
      if (losses != Losses::kNone) add_loss(report, with_recent ? by_recent : by_mean);
    }
  }
  mean_.add(y);
  if (with_recent) recent_mean_.add(y);
}

void AgainstMean::add_loss(const StepReport& report, double log_probability) {
  const double loss = log_probability - bounded_log_predictive(report.filter);
  behind_ = std::max(0.0, behind_ + tempered_gain(loss, report.observation->num_channels()));
}

bool AgainstMean::is_far_behind() const {
  return behind_ > kFarBehind + kFarBehindAChannel * static_cast<double>(num_channels());
}

GainOverMean AgainstMean::gain() const {
  if (scores_.observations() == 0) return {};
  const Gain gain = scores_.difference(0, 1);
  return {gain.mean, gain.standard_error, scores_.observations()};
}

}  // namespace headwater
