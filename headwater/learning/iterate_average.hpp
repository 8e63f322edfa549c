#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// The mean of a sequence of vectors without its beginning (Polyak-Ruppert averaging of a tail).
// Each counts for the observations since the one before it, the first for one; an observation may
// also be a block, if blocks are to count alike. After n
// observations, those from between n/16 and n/8 on are in the mean. The beginning is dropped
// because estimates are still far off there; an eighth at most, because each one left out costs
// accuracy (by the root of n / (n - dropped), 1.07 at worst). A vector longer than those before it
// adds numbers that were zero until then. The sums of the stretches [2^i, 2^(i+1)) are kept, as
// many as are needed, so neither the length nor past estimates need to be known.
class IterateAverage {
 public:
  // A vector that is stored in parts, one after another, and how many observations there are so
  // far.
  void add(std::span<const std::span<const double>> parts, std::int64_t observations);
  // As if every vector so far had been this one; not if empty.
  void set_all(std::span<const std::span<const double>> parts);
  // Calls work(vector) for all vectors that the mean is made of, all alike to the mean.
  template <class Work>
  void change_all(const Work& work) {
    for (Stretch& stretch : stretches_) work(stretch.sum);
  }
  bool empty() const { return count_ == 0; }
  Vector mean() const;
  // The mean, into parts like those that were added; a last part that the mean does not reach yet
  // stays as it is.
  void write_mean(std::span<const std::span<double>> parts) const;
  // ... of so many of its numbers, which every vector has.
  Vector mean_of(Index first, Index size) const;
  Index length() const { return stretches_.back().sum.size(); }  // of the mean; not if empty
  double part() const;  // of all observations so far, those that are in the mean; not if empty
  void exchange(StateArchive& archive) { archive(stretches_, count_, last_, next_border_); }
  // Whether it can have come about by vectors of these lengths.
  bool has_lengths(Index shortest, Index longest) const;

 private:
  struct Stretch {
    Vector sum;
    std::int64_t count = 0;

    void exchange(StateArchive& archive) { archive(sum, count); }
  };
  static constexpr std::size_t kStretches = 4;  // the one under way and three before it

  std::vector<Stretch> stretches_;  // oldest first
  std::int64_t count_ = 0;          // of observations
  std::int64_t last_ = 0;           // how many there were when the last vector came
  std::int64_t next_border_ = 1;
};

}  // namespace headwater
