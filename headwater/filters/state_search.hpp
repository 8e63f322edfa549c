#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headwater/core/growing.hpp"
#include "headwater/evidence.hpp"
#include "headwater/models/packed_chain.hpp"

namespace headwater {

// Finds the joint states of a large finite chain that explain an observation, looking at few of
// them. States are scored by
//   log g(y | x) + sum_k law_k(x_k),
// law_k being logarithms of the predicted law of axis k alone. From some states to begin with, the
// best one found whose neighbours are not known yet is always the next whose neighbours, all that
// differ on one axis, are scored.
//
// Where counts are large, that can end on a state that is better than all its neighbours and far
// from the best: two sources that are alike, one taken for the other. So one more state to begin
// with comes from the score with mixtures of states on each axis: a concave function, whose only
// maximum is found by moving mass from state to state, one axis after another.
class StateSearch {
 public:
  struct Found {
    PackedState state;
    double score;
  };

  // The observation that is to be explained. laws: for each axis, the logarithms of the predicted
  // law of its states.
  void look_at(const PackedChain& chain, const Evidence& evidence, const std::vector<Vector>& laws);

  // Scores neighbours of at most `most` states, and stops when none is left within reach of the
  // best.
  void run(std::span<const PackedState> begin, Index most);

  // Those within reach of the best, in no particular order. Valid until the next run.
  std::span<Found> found() { return found_; }

 private:
  // Where a state is among those found. Open addressing, as large as four times their number.
  class Places {
   public:
    void clear();
    // The place of a state that is there, or -1 after it was given `place`.
    std::int32_t find_or_add(PackedState state, std::int32_t place);

   private:
    void grow();
    struct Slot {
      PackedState state;
      std::int32_t place;
    };
    std::vector<Slot> slots_;
    std::size_t count_ = 0;
  };
  struct Waiting {
    double score;
    std::int32_t place;
    bool operator<(const Waiting& other) const {
      return score < other.score || (score == other.score && place > other.place);
    }
  };

  PackedState mode_of_mixtures();
  double move_mass(std::size_t axis);  // what that has gained, about
  void take(PackedState state, double score);
  double score_of(PackedState state);
  void score_neighbours(PackedState state);
  void set_intensity(PackedState state);  // lambda of the listed channels
  void drop_what_is_out_of_reach();

  const PackedChain* chain_ = nullptr;
  const Evidence* evidence_ = nullptr;
  const std::vector<Vector>* laws_ = nullptr;
  std::vector<GrowingMatrix>
      parts_;                   // of each axis: what its states add to lambda, one column a state
  std::vector<Vector> totals_;  // ... and to the sum of lambda over all channels seen
  GrowingVector background_;    // what a component that is always on adds

  std::vector<Vector> mixtures_;  // of the states of each axis
  Vector slopes_;
  Forces forces_;
  GrowingVector intensities_;
  GrowingVector neighbours_;
  std::vector<Found> found_;
  std::vector<Waiting> waiting_;  // a heap
  Places places_;
  double best_ = 0;
};

}  // namespace headwater
