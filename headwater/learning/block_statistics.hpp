#pragma once

#include <cstdint>
#include <vector>

#include "headwater/engines/engine.hpp"
#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// What the observations of each stretch of a stream have said, of whatever engine: the statistics
// of an engine are running averages, so that those of a block of observations which has just
// entered follow from the averages before and after it. Blocks are added up in batches. When there
// are too many of these, neighbours are merged, so that memory does not grow with the stream.
class BlockStatistics {
 public:
  // Sums over so many observations: of their statistics, in the order of Statistics::sums(); of
  // those of the phases of a season (see sums_of_visits); and of the estimates that these were
  // computed with.
  struct Batch {
    Vector sums;
    Vector phases;
    Vector estimates;
    std::int64_t observations = 0;

    void exchange(StateArchive& archive) { archive(sums, phases, estimates, observations); }
  };

  // Batches are of so many observations at least; 0: of a block each, as long as there are few.
  explicit BlockStatistics(std::int64_t least_observations = 0)
      : least_observations_(least_observations) {}

  // An observation is given to the engine, with this weight.
  void expect(double step_size) { waiting_.push_back(step_size); }
  // The statistics have changed because observations have entered.
  void add(const Statistics& statistics);
  // The statistics that the next block enters into, and its estimate: after add(), and after they
  // were rewritten.
  void begin(const Statistics& statistics, const Vector& estimate = {});
  bool has_begun() const { return has_begun_; }
  // What came before was of another estimate, or is not to be compared.
  void clear();
  // In place of all batches, and of the observations that wait: the statistics of stretches of
  // observations of equal weight, under one estimate. Not of a season.
  void set_all(const std::vector<Statistics>& stretches, const Vector& estimate);

  // Without the first observations, this part of all: estimates were still far off then. All of
  // the same length.
  std::vector<Batch> without_first(double part) const;

  void exchange(StateArchive& archive);
  // Whether it can be of such statistics and estimates of this size.
  bool fits(const Statistics& statistics, Index estimate_size) const;

 private:
  Vector flat(const Statistics& statistics) const;
  void merge_neighbours();

  std::int64_t least_observations_;
  std::vector<double> waiting_;  // weights of the observations that have not entered
  bool has_begun_ = false;
  Vector before_;
  std::vector<PhaseSums> phases_before_;
  Vector estimate_;
  std::int64_t entered_before_ = 0;
  std::vector<Batch> batches_;
};

// Calls `move`, which moves the engine on, and adds what has entered the statistics by that.
template <class Move>
void follow(Engine& engine, BlockStatistics& blocks, const Move& move) {
  if (!blocks.has_begun()) blocks.begin(engine.statistics());
  move();
  if (!engine.has_new_statistics()) return;
  blocks.add(engine.statistics());
  blocks.begin(engine.statistics());
}

}  // namespace headwater
