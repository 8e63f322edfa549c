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
class AveragePrediction {
 public:
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
  // After each M-step.
  void follow(const OnlineEm& learner) { filter_.follow(learner); }

  void exchange(StateArchive& archive);

 private:
  AverageFilter filter_;
  double gain_ = 0;  // of the average over the last iterate, over the latest observations
  bool leads_ = false;
};

}  // namespace headwater
