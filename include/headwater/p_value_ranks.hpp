#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "headwater/export.hpp"

namespace headwater {

class StateArchive;

// What p-values of one kind are worth. Where the model is right they are uniform; on real data they
// are not quite. The p-value of an observation is therefore ranked among those of the observations
// before it, the last `window` of them. Beyond the smallest tenth the tail of -log p is taken to
// be exponential, with the mean excess that was seen: P(excess > z) = (1 + z / sum of the k
// excesses)^-k. It is not taken to be lighter than that of uniform numbers, whose mean excess is 1:
// what was conservative as far as it was seen need not be so beyond. An excess is cut off at five
// times the scale of scores between the median and that tenth: or a few true alarms would hide the
// next. Before there are enough observations, numbers as they are expected of a right model stand
// in for them.
class HEADWATER_EXPORT PValueRanks {
 public:
  // num_standing_in: 10 or more, and no multiple of 7 or 11.
  explicit PValueRanks(std::size_t window = 2000, std::size_t num_standing_in = 200);
  double rank(double p) const;
  void add(double p);

  void exchange(StateArchive& archive);

 private:
  std::size_t most_;
  std::size_t num_standing_in_;
  std::vector<double> sorted_;  // -log p, the largest first
  std::deque<double> window_;   // in the order in which they came
  std::size_t num_left_;        // of those that stand in, which are the first to leave
};

}  // namespace headwater
