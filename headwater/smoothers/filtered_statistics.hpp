#pragma once

#include <memory>
#include <vector>

#include "headwater/emission.hpp"
#include "headwater/filters/fast_filter.hpp"
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

  bool advance(const FastFilter& filter, const Observation& y, double step_size) override;
  bool finish(const FastFilter& filter) override;
  void restart() override {}  // every step is taken in by itself
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }
  std::unique_ptr<Smoother<FastFilter>> clone() const override {
    return std::make_unique<FilteredStatistics>(*this);
  }
  void exchange(StateArchive& archive, const FastFilter& filter) override;

 private:
  // A cell of the block: its channel (counted from the first one whose row this process keeps), its
  // observation and a number.
  struct Cell {
    void exchange(StateArchive& archive) { archive(channel, time, value); }

    Index channel;
    Index time;
    double value;
  };
  // What the M-step wants of one observation.
  struct Step {
    void exchange(StateArchive& archive) {
      archive(activation, variance, moves, has_moves, observation, is_corrected, is_quick, points,
              weights);
    }
    bool fits(const FastFilter& filter) const;

    Vector activation;  // of one that stands for all: where the ratios are from
    Vector variance;    // of the components' activations
    ExpectedMoves moves;
    bool has_moves = false;
    Observation observation;
    bool is_quick = false;      // see EmissionSums; one activation stands for it
    bool is_corrected = false;  // whether many points stand for it:
    Matrix points;
    Vector weights;
  };

  void remember(const FastFilter& filter, const Observation& y);
  void remember_unseen(const FastFilter& filter, const Observation& y, Index time);
  void add_quickly(const Step& step, double coefficient, const FastFilter& filter);
  void add_law_statistics(const FastFilter& filter);
  void fold(const FastFilter& filter);
  void add_with_season(const Step& step, double coefficient, const FastFilter& filter);
  void add_counts(const PaddedRows& basis);
  void add_unseen();

  WindowOptions options_;
  Index block_;
  Statistics statistics_;

  std::vector<Step> steps_;  // the block; the rest is kept for reuse
  Index num_steps_ = 0;
  std::vector<double> step_sizes_;
  std::vector<double> coefficients_;
  std::vector<Cell> cells_;   // of the listed channels: their gains
  std::vector<Cell> unseen_;  // of a loss other than 1: 1 - loss

  ClonePointer<EmissionSums> sums_;
  std::vector<std::size_t> begin_;  // of each channel's cells, once they are in order
  std::vector<Cell> ordered_;
  std::vector<const double*> columns_;
  std::vector<double> weights_;
  Vector sum_;
  Vector scaled_weights_;
  Matrix around_;  // points around the best activation
  Vector without_law_statistics_;
};

}  // namespace headwater
