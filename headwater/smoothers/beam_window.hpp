#pragma once

#include <memory>
#include <span>
#include <vector>

#include "headwater/core/growing.hpp"
#include "headwater/emission.hpp"
#include "headwater/filters/beam_filter.hpp"
#include "headwater/smoothers/smoother.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// One step of a beam filter, kept for a backward pass.
struct BeamStep {
  void remember(const BeamFilter& filter, const Observation& y, double its_step_size);

  std::vector<PackedState> states;
  std::vector<double> weights;
  std::shared_ptr<const PackedChain> chain;  // that led to this step
  Observation observation;
  double step_size = 0;
};

// Goes back from the states of a step to those of the one before: state i comes from state j with a
// probability proportional to W(j) P(x_j -> x_i).
class BeamRetreat {
 public:
  // before_law(j) = sum_i law(i) R(i, j); the moves between the two steps are added to `moves`,
  // unless that is empty, times `coefficient`.
  void run(const BeamStep& before, const BeamStep& step, const Eigen::Ref<const Vector>& law,
           double coefficient, GrowingVector& before_law, std::span<double> moves);

 private:
  GrowingVector row_;
  PackedMoves pair_moves_;
};

// Statistics by a backward pass over a window of the states that a beam filter has kept, as
// AdjointWindow has them for all states.
class BeamWindow final : public Smoother<BeamFilter> {
 public:
  // with_moves: whether the prior's statistics are wanted.
  BeamWindow(const BeamFilter& filter, const WindowOptions& options, bool with_moves);

  bool advance(const BeamFilter& filter, const Observation& y, double step_size) override;
  bool finish(const BeamFilter& filter) override;
  void restart() override { window_.clear(); }
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<Smoother<BeamFilter>> clone() const override {
    return std::make_unique<BeamWindow>(*this);
  }
  void exchange(StateArchive& archive, const BeamFilter& filter) override;

 private:
  void fold(Index count, const BeamFilter& filter);
  void add_emission(const BeamStep& step, const Emission& emission, double coefficient);

  std::shared_ptr<const PackedChain> chain_;  // as it started
  WindowOptions options_;
  StepWindow<BeamStep> window_;
  Statistics statistics_;
  BeamRetreat retreat_;
  ClonePointer<EmissionSums> sums_;
  GrowingVector law_;
  GrowingVector before_law_;
  GrowingVector weights_;
  GrowingMatrix activations_;
};

}  // namespace headwater
