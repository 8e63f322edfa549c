#pragma once

#include "headwater/learning/running_mean.hpp"
#include "headwater/model.hpp"
#include "headwater/reports.hpp"
#include "headwater/session/paired_scores.hpp"

namespace headwater {

// Compares the predictions of a fit with those of the running mean of each channel, beside the fit,
// from its first search for a start on.
// Where there are many channels, only every second, third, ... observation is compared, so that the
// cost is bounded: 256 cells an observation. After some thousands a part of the observations
// says enough, too.
class AgainstMean {
 public:
  // What is added up besides: losses to the running mean, or to one that forgets.
  enum class Losses { kNone, kToMean, kToRecent };
  // Each observation in turn.
  void add(const StepReport& report, Losses losses = Losses::kNone);
  GainOverMean gain() const;
  // Whether the fit has lately predicted so much worse that no luck explains it. What it is behind
  // is the sum of the losses of each observation (tempered ones, see tempered_gain) since it was
  // last not behind at all.
  bool is_far_behind() const;
  // Another fit makes the predictions from now on.
  void begin_anew() { behind_ = 0; }

  Index num_channels() const { return mean_.num_channels(); }
  void exchange(StateArchive& archive) { archive(mean_, recent_mean_, scores_, behind_); }

 private:
  void add_loss(const StepReport& report, double log_probability);

  // Of the last sixteen observations, more or less: levels that have changed are known in no time.
  static constexpr double kKept = 1 - 1.0 / 16;

  RunningMean mean_;
  RunningMean recent_mean_{kKept};
  PairedScores scores_{2};
  double behind_ = 0;  // in nats
};

}  // namespace headwater
