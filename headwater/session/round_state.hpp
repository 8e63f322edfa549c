#pragma once

#include <cstdint>
#include <vector>

#include "headwater/learning/estimate.hpp"
#include "headwater/learning/outlier_guard.hpp"
#include "headwater/learning/round_sums.hpp"
#include "headwater/round.hpp"

namespace headwater {

struct SequenceRound::State {
  Estimate estimate;              // in the engine's own scale
  OutlierGuard guard = {};        // before the round
  std::int64_t first = 0;         // index of its first sequence
  std::int64_t observations = 0;  // before the round
  std::int64_t num_reported = 0;  // sequences that were reported before, one observation at a time
  bool wants_rows = false;        // whether each observation is to be reported

  std::string bytes() const;
};

// The sums of some sequences of a round, each of a whole subtree: of the sequences at the places
// [position 2^level, (position + 1) 2^level). They are in the order of their places, and no two are
// the halves of a larger one.
class RoundStatistics::Tree {
 public:
  struct Node {
    std::int32_t level = 0;
    std::int64_t position = 0;
    RoundSums sums = {};

    std::int64_t begin() const { return position << level; }
    std::int64_t end() const { return (position + 1) << level; }
    void exchange(StateArchive& archive);
  };

  Tree() = default;
  // Of one sequence, at a place of the round whose first sequence has the index `first`.
  Tree(std::int64_t first, std::int64_t place, RoundSums sums);

  std::int64_t first() const { return first_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  void merge(const Tree& other);
  // The sums of the whole round. Throws UsageError if a sequence is missing between others.
  RoundSums root() const;
  void exchange(StateArchive& archive);

 private:
  void join_neighbours();

  std::int64_t first_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace headwater
