#pragma once

#include "headwater/learning/average_filter.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// log p of a step as it enters comparisons: bounded, so that an observation that one side took to
// be impossible can be counted.
double bounded_log_predictive(const FilterStep& step);

// The average of a fit's iterates predicts each observation beside the last iterate. The average
// has less noise; the last iterate is ahead where the fit is still far from its end, or follows a
// stream that changes. Whichever has predicted the latest observations better predicts the next
// one.
//
// A second filter takes about as long as the first. So the average is on trial: if it has not
// predicted better, by two standard errors at the end of the trial or by one later on, it rests,
// and is tried again after a while.
class AveragePrediction {
 public:
  // About so many observations decide who predicts, and so many are a trial. With fewer the choice
  // follows chance, with more it is late where the last iterate is ahead for a while.
  static constexpr std::int64_t kMemory = 300;

  explicit AveragePrediction(const OnlineEm& learner) : filter_(learner) {}

  // Whether the average predicts: as chosen before the last step.
  bool leads() const { return leads_; }
  const AverageFilter& filter() const { return filter_; }

  FilterStep step(const Observation& y, double step_size) {
    leads_ = gain_ > 0;
    return filter_.step(y, step_size);
  }
  // After each step: what both have made of the observation.
  void compare(const FilterStep& by_average, const FilterStep& by_last);
  // Whether the average is no better.
  bool is_in_vain() const;
  bool is_on_trial() const { return compared_ < kMemory; }
  // After each M-step.
  void follow(const OnlineEm& learner) { filter_.follow(learner); }

  void exchange(StateArchive& archive);

 private:
  AverageFilter filter_;
  std::int64_t compared_ = 0;  // observations
  double gain_ = 0;            // of the average over the last iterate, over the latest observations
  double variance_ = 0;        // of the gain, if the truth were no gain
  bool leads_ = false;
};

// When the average is tried again: after as many observations as a trial has, and twice as many
// each time that it was in vain. So trials cost less and less of a long stream.
class AverageTrials {
 public:
  bool is_due(std::int64_t observations) const { return observations >= next_; }
  void end_in_vain(std::int64_t observations);
  void succeed() { rest_ = AveragePrediction::kMemory; }

  void exchange(StateArchive& archive);

 private:
  std::int64_t rest_ = AveragePrediction::kMemory;
  std::int64_t next_ = 0;
};

}  // namespace headwater
