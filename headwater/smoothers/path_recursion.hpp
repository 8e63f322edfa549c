#pragma once

#include "headwater/emission.hpp"
#include "headwater/smoothers/lineage_statistics.hpp"
#include "headwater/smoothers/smoother.hpp"

namespace headwater {

// Algorithm 1 to the letter [YildirimCemgilSingh2012]: every particle carries the statistics of its
// path, and those of the counts of time t enter at time t + 1, under the basis of that time. The
// truth that PathWindow is tested against; N (M K + K) numbers are copied a step.
class PathRecursion final : public ParticleSmoother {
 public:
  PathRecursion(const ParticleFilter& filter, bool with_moves);

  bool advance(const ParticleFilter& filter, const Observation& y, double step_size) override;
  bool finish(const ParticleFilter&) override { return false; }
  void restart() override { begins_sequence_ = true; }
  const Statistics& statistics() const override { return statistics_; }
  std::unique_ptr<ParticleSmoother> clone() const override {
    return std::make_unique<PathRecursion>(*this);
  }
  void exchange(StateArchive& archive, const ParticleFilter& filter) override;

 private:
  Statistics statistics_;
  LineageStatistics paths_;
  ClonePointer<EmissionSums> sums_;
  ParticleStep previous_;
  Matrix previous_activations_;
  bool begins_sequence_ = false;  // the step to come: no particle leads to it
};

}  // namespace headwater
