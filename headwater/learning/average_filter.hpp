#pragma once

#include "headwater/clone_pointer.hpp"
#include "headwater/engines/engine.hpp"
#include "headwater/learning/online_em.hpp"

namespace headwater {

// The activations of a stream under the average of a learner's iterates, beside the learner's own
// filter, which has the last iterate. It learns nothing itself: its parameters are taken from the
// learner after each M-step.
class AverageFilter {
 public:
  // Goes on from the activations that the learner has found so far. The learner has an average.
  explicit AverageFilter(const OnlineEm& learner);

  FilterStep step(const Observation& y, double step_size) { return engine_->step(y, step_size); }
  void follow(const OnlineEm& learner);

  const Engine& engine() const { return *engine_; }
  // E[x_t | y_1..t] under a prior of scale 1, background included.
  Vector filtered_activation() const;

  // One that reads was made from a learner with the same options.
  void exchange(StateArchive& archive);

 private:
  ClonePointer<Engine> engine_;
  Vector scale_;  // of the prior in the engine; empty where it has none
};

}  // namespace headwater
