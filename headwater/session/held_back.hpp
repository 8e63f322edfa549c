#pragma once

#include <vector>

#include "headwater/models/record.hpp"

namespace headwater {

// Observations that are kept until there are enough of them to choose a start from.
class HeldBack {
 public:
  void add(Observation y);
  void clear() { *this = {}; }
  bool empty() const { return counts_.empty(); }

  // A view, until the next call of add() or clear().
  Record record() const;

  void exchange(StateArchive& archive);

 private:
  Index num_channels_ = 0;
  std::vector<double> counts_;     // one observation after another
  std::vector<double> exposures_;  // empty while all are 1
};

}  // namespace headwater
