#pragma once

#include "headwater/smoothers/lineages.hpp"
#include "headwater/smoothers/smoother.hpp"

namespace headwater {

// The fixed-lag smoother: an observation enters the statistics when `lag` later ones are in, along
// the paths of the particles. What ParticleWindow with GenealogyKernel computes, to the last bit;
// this one remembers and visits those particles only that still have descendants.
class LagWindow final : public ParticleSmoother {
 public:
  LagWindow(const ParticleFilter& filter, Index lag, const WindowOptions& options, bool with_moves);

  bool advance(const ParticleFilter& filter, const Observation& y, double step_size) override;
  bool finish(const ParticleFilter& filter) override;
  void restart() override { window_.clear(); }
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<ParticleSmoother> clone() const override {
    return std::make_unique<LagWindow>(*this);
  }
  void exchange(StateArchive& archive, const ParticleFilter& filter) override;

 private:
  void fold(Index count, const ParticleFilter& filter);

  StepWindow<LineageStep> window_;
  Statistics statistics_;
  Lineages lineages_;
  LineageSweep sweep_;
};

}  // namespace headwater
