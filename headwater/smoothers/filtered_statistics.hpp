#pragma once

#include <memory>
#include <vector>

#include "headwater/filters/fast_filter.hpp"
#include "headwater/smoothers/emission_statistics.hpp"
#include "headwater/smoothers/smoother.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// Statistics of a fast filter, from what it knows at each step and no later one: at the true
// parameters they are the same in expectation. Blocks of observations enter at once, so that each
// channel's part of the statistics is touched once a block; memory and work grow with the counts.
class FilteredStatistics final : public Smoother<FastFilter> {
 public:
  // with_moves: whether the prior's statistics are wanted.
  FilteredStatistics(const FastFilter& filter, const WindowOptions& options, bool with_moves);

  bool advance(const FastFilter& filter, Observation y, double step_size) override;
  bool finish(const FastFilter& filter) override;
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<Smoother<FastFilter>> clone() const override {
    return std::make_unique<FilteredStatistics>(*this);
  }
  void exchange(StateArchive& archive) override;

 private:
  // A cell of the block: its channel, its observation and a number.
  struct Cell {
    void exchange(StateArchive& archive) { archive(channel, time, value); }

    Index channel;
    Index time;
    double value;
  };
  // What the M-step wants of one observation.
  struct Step {
    void exchange(StateArchive& archive) {
      archive(activation, moves, has_moves, observation, points, weights);
    }

    Vector activation;  // of one that stands for all: where the ratios are from
    ExpectedMoves moves;
    bool has_moves = false;
    StoredObservation observation;  // where many points stand for it: what was seen,
    Matrix points;                  // the points
    Vector weights;                 // and their weights
  };

  void remember(const FastFilter& filter, Observation y);
  void fold(const FastFilter& filter);
  void add_counts(const Matrix& basis);
  void add_unseen();

  WindowOptions options_;
  Index block_;
  Statistics statistics_;

  std::vector<Step> steps_;  // the block; the rest is kept for reuse
  Index num_steps_ = 0;
  std::vector<double> step_sizes_;
  std::vector<double> coefficients_;
  std::vector<Cell> cells_;   // with counts: counts over intensities
  std::vector<Cell> unseen_;  // of another exposure than 1: what is missing of that

  EmissionStatistics emission_;
  std::vector<std::size_t> begin_;  // of each channel's cells, once they are in order
  std::vector<Cell> ordered_;
  std::vector<const double*> columns_;
  std::vector<double> weights_;
  Vector sum_;
};

}  // namespace headwater
