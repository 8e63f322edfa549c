#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/parallel/thread_pool.hpp"
#include "headwater/particle_choices.hpp"
#include "headwater/random.hpp"

namespace headwater {

std::string to_string(Resampling scheme);
// What to_string() says; throws UsageError, naming them, for anything else.
Resampling parse_resampling(std::string_view name);

// Draws ancestors.size() indices with probabilities proportional to the weights (nonnegative, of a
// positive finite sum, otherwise UsageError), in ascending order; never one of weight zero.
// O(weights + ancestors), without allocating.
void resample(Resampling scheme, std::span<const double> weights, Generator& generator,
              std::span<std::int32_t> ancestors);
// The same for many weights, on the threads of a pool where the scheme is systematic. Weights are
// summed in parts of a fixed size, and so the draws do not depend on the number of threads.
class SharedResampling {
 public:
  void resample(Resampling scheme, std::span<const double> weights, Generator& generator,
                std::span<std::int32_t> ancestors, const ThreadPool& pool);

 private:
  std::vector<double> sums_;             // of each part
  std::vector<std::int64_t> cumulated_;  // in units, before each part and at the end
};

// The inverse distribution function at points that ascend: one walk up the cumulated weights
// weight(0), weight(1), ... of `count` indices. Rounding may leave the last of these sums below
// the total; a point beyond it belongs to the last index of positive weight, of which there must
// be one.
template <class Weight>
class QuantileWalk {
 public:
  QuantileWalk(std::size_t count, Weight weight) : weight_(weight), last_(count - 1) {
    while (last_ > 0 && weight_(last_) <= 0) --last_;
    cumulated_ = weight_(0);
  }

  // The first index up to which the weights sum to more than `point`; 0 <= point, on the scale of
  // the weights, and no less than in the call before.
  std::int32_t at(double point) {
    while (index_ < last_ && cumulated_ <= point) cumulated_ += weight_(++index_);
    return static_cast<std::int32_t>(index_);
  }

 private:
  Weight weight_;
  std::size_t last_;
  std::size_t index_ = 0;
  double cumulated_;
};

// The same at points in any order, from a table of where to begin: a step or two each.
class QuantileTable {
 public:
  // Weights are nonnegative and have a positive finite sum.
  void set(std::span<const double> weights);

  double total() const { return cumulated_.back(); }
  // The first index up to which the weights sum to more than `point`, 0 <= point; the last of
  // positive weight where none does.
  std::int32_t at(double point) const {
    const auto slot =
        std::min(static_cast<std::size_t>(point * slots_per_unit_), begin_.size() - 1);
    std::int32_t i = begin_[slot];
    while (cumulated_[static_cast<std::size_t>(i)] <= point && i < last_) ++i;
    return i;
  }

 private:
  std::vector<double> cumulated_;
  std::vector<std::int32_t> begin_;  // of each slot of the total, an index that is not too large
  std::int32_t last_ = 0;
  double slots_per_unit_ = 0;
};

}  // namespace headwater
