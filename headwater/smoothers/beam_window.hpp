#pragma once

#include <memory>
#include <span>
#include <vector>

#include "headwater/filters/beam_filter.hpp"
#include "headwater/smoothers/emission_statistics.hpp"
#include "headwater/smoothers/smoother.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// One step of a beam filter, kept for a backward pass.
struct BeamStep {
  void remember(const BeamFilter& filter, Observation y, double its_step_size);

  std::vector<PackedState> states;
  Vector weights;
  std::shared_ptr<const PackedChain> chain;  // that led to this step
  StoredObservation observation;
  double step_size = 0;
};

// Goes back from the states of a step to those of the one before: state i comes from state j with a
// probability proportional to W(j) P(x_j -> x_i).
class BeamRetreat {
 public:
  // before_law(j) = sum_i law(i) R(i, j); the moves between the two steps are added to `moves`,
  // unless that is empty, times `coefficient`.
  void run(const BeamStep& before, const BeamStep& step, const Vector& law, double coefficient,
           Vector& before_law, std::span<double> moves);

 private:
  Vector row_;
  PackedMoves pair_moves_;
};

// Statistics by a backward pass over a window of the states that a beam filter has kept, as
// AdjointWindow has them for all states.
class BeamWindow final : public Smoother<BeamFilter> {
 public:
  // with_moves: whether the prior's statistics are wanted.
  BeamWindow(const BeamFilter& filter, const WindowOptions& options, bool with_moves);

  bool advance(const BeamFilter& filter, Observation y, double step_size) override;
  bool finish(const BeamFilter& filter) override;
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<Smoother<BeamFilter>> clone() const override {
    return std::make_unique<BeamWindow>(*this);
  }
  void exchange(StateArchive& archive) override;

 private:
  Index num_waiting() const { return num_steps_ - (has_entered_ ? 1 : 0); }
  void fold(Index count, const BeamFilter& filter);
  void add_emission(const BeamStep& step, const Matrix& basis, double coefficient);

  std::shared_ptr<const PackedChain> chain_;  // as it started
  WindowOptions options_;
  Index lag_;
  Index block_;
  Statistics statistics_;

  // Oldest first, the rest kept for reuse. The first is the last that has entered already, which
  // the moves into the next need.
  std::vector<BeamStep> steps_;
  Index num_steps_ = 0;
  bool has_entered_ = false;

  BeamRetreat retreat_;
  EmissionStatistics emission_;
  Vector law_;
  Vector before_law_;
  Matrix activations_;
  std::vector<double> step_sizes_;
  std::vector<double> entering_;
};

}  // namespace headwater
