#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "headwater/smoothers/particle_sweep.hpp"
#include "headwater/smoothers/smoother.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// Statistics by a backward pass over a window of particles, as AdjointWindow has them for finite
// states: an observation enters when `lag` later ones are in.
//
// With the genealogy as its kernel this is the fixed-lag smoother; with others, those of the same
// names. That the past is cut off costs nothing in the limit: at the true parameters the expected
// statistics are the same for every lag, even 0.
class ParticleWindow final : public ParticleSmoother {
 public:
  ParticleWindow(const ParticleFilter& filter, std::unique_ptr<BackwardKernel> kernel, Index lag,
                 const WindowOptions& options, bool with_moves);
  ParticleWindow(const ParticleWindow& other);
  ParticleWindow& operator=(const ParticleWindow&) = delete;

  bool advance(const ParticleFilter& filter, Observation y, double step_size) override;
  bool finish(const ParticleFilter& filter) override;
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<ParticleSmoother> clone() const override {
    return std::make_unique<ParticleWindow>(*this);
  }
  void exchange(StateArchive& archive) override {
    archive(block_, statistics_, has_entered_);
    exchange_first(archive, steps_, num_steps_);
  }

 private:
  Index num_waiting() const { return num_steps_ - (has_entered_ ? 1 : 0); }
  void fold(Index count, const ParticleFilter& filter);

  std::unique_ptr<BackwardKernel> kernel_;
  Index lag_;
  WindowOptions options_;
  Index block_;
  Statistics statistics_;

  // Oldest first, the rest kept for reuse. The first is the last that has entered already, which
  // the moves into the next need.
  std::vector<ParticleStep> steps_;
  Index num_steps_ = 0;
  bool has_entered_ = false;

  ParticleSweep sweep_;
  Vector law_;
  std::vector<double> step_sizes_;
  std::vector<double> entering_;
  std::vector<double> coefficients_;
};

}  // namespace headwater
