#pragma once

#include <vector>

#include "headwater/smoothers/lineage_statistics.hpp"
#include "headwater/smoothers/lineages.hpp"
#include "headwater/smoothers/smoother.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// Algorithm 1 without its cost: the statistics of all paths, from the first observation to the
// last, as PathRecursion has them.
//
// The recent past is a window that one backward pass goes over. Of the steps before it, few
// particles still have descendants; only theirs are the paths whose statistics are carried
// forward, and no path is ever cut off.
class PathWindow final : public ParticleSmoother {
 public:
  PathWindow(const ParticleFilter& filter, const WindowOptions& options, bool with_moves);

  // The statistics have the newest observation in them whenever they change.
  bool advance(const ParticleFilter& filter, const Observation& y, double step_size) override;
  bool finish(const ParticleFilter& filter) override;
  void restart() override;
  const Statistics& statistics() const override { return statistics_; }
  std::unique_ptr<ParticleSmoother> clone() const override {
    return std::make_unique<PathWindow>(*this);
  }
  void exchange(StateArchive& archive, const ParticleFilter& filter) override;

 private:
  void sum_up(const ParticleFilter& filter);
  void lengthen_paths(Index count, const ParticleFilter& filter);
  void lengthen_by(Index step, const ParticleFilter& filter);

  WindowOptions options_;
  Index block_;
  Index since_sum_ = 0;
  Statistics statistics_;

  Statistics settled_;         // of all sequences before the present one
  double settled_weight_ = 0;  // ... what they still count for

  Lineages::Steps steps_;    // if there are paths, they end in the particles of the first
  LineageStatistics paths_;  // ... in their order
  Lineages lineages_;
  LineageSweep sweep_;
  ChosenActivations activations_;
  std::vector<double> coefficients_;
};

}  // namespace headwater
