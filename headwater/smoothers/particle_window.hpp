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
// With the genealogy as its kernel this is the fixed-lag smoother, which LagWindow computes with
// less work; with others, those of the same names. That the past is cut off costs nothing in the
// limit: at the true parameters the expected statistics are the same for every lag, even 0.
class ParticleWindow final : public ParticleSmoother {
 public:
  ParticleWindow(const ParticleFilter& filter, std::unique_ptr<BackwardKernel> kernel, Index lag,
                 const WindowOptions& options, bool with_moves);

  bool advance(const ParticleFilter& filter, const Observation& y, double step_size) override;
  bool finish(const ParticleFilter& filter) override;
  void restart() override { window_.clear(); }
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<ParticleSmoother> clone() const override {
    return std::make_unique<ParticleWindow>(*this);
  }
  void exchange(StateArchive& archive, const ParticleFilter& filter) override;

 private:
  void fold(Index count, const ParticleFilter& filter);

  ClonePointer<BackwardKernel> kernel_;
  StepWindow<ParticleStep> window_;
  Statistics statistics_;
  ParticleSweep sweep_;
  Vector law_;
};

}  // namespace headwater
