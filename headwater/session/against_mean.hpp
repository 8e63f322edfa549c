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
  // Each observation in turn.
  void add(const StepReport& report);
  GainOverMean gain() const;
  // Whether the fit has lately predicted so much worse than the running mean that no luck explains
  // it. What it was behind is the sum of the losses of each observation (tempered ones, see
  // tempered_gain) since it was last not behind at all.
  bool is_far_behind() const;
  // Another fit makes the predictions from now on.
  void begin_anew() { behind_ = 0; }

  Index num_channels() const { return mean_.num_channels(); }
  void exchange(StateArchive& archive) { archive(mean_, scores_, behind_); }

 private:
  RunningMean mean_;
  PairedScores scores_{2};
  double behind_ = 0;  // in nats
};

}  // namespace headwater
