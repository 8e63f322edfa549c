#pragma once

#include <vector>

#include "headwater/smoothers/backward_sweep.hpp"
#include "headwater/smoothers/smoother.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// Statistics by a backward pass over a window: every `block` observations one sweep goes back over
// the last lag + block, and the oldest `block` of them, now seen with at least `lag` later
// observations, enter the averages. The cost of an observation does not depend on the number of
// statistics but for one product with the intensities; memory is bounded by the window.
class AdjointWindow final : public ExactSmoother {
 public:
  // with_moves: whether the prior's statistics are wanted.
  AdjointWindow(const ExactFilter& filter, const WindowOptions& options, bool with_moves);

  bool advance(const ExactFilter& filter, const Observation& y, double step_size) override;
  bool finish(const ExactFilter& filter) override;
  void restart() override { window_.clear(); }
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<ExactSmoother> clone() const override {
    return std::make_unique<AdjointWindow>(*this);
  }
  void exchange(StateArchive& archive, const ExactFilter& filter) override;

 private:
  void fold(Index count, const ExactFilter& filter);

  WindowOptions options_;
  StepWindow<ExactStep> window_;
  Statistics statistics_;
  BackwardSweep sweep_;
  ClonePointer<EmissionSums> sums_;
  Vector beta_;
  std::vector<const Observation*> observations_;
};

}  // namespace headwater
