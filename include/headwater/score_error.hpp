#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/inference.hpp"

namespace headwater {

// The standard error of a log-likelihood that particles have estimated, from a second filter with
// other random numbers. Let d_t be the difference of the two log-probabilities of observation t.
// Their expectation is 0, and the variance of their sum is twice that of the log-likelihood. Since
// errors of neighbours depend on each other, the sum of squares is formed of sums over blocks of
// observations [GlynnWhitt1991]: with D_b the sum of the d_t of block b,
//   standard error^2 = sum_b D_b^2 / 2.
// There are at most 64 blocks; they grow with the stream.
//
// It says how far scores with different seeds are apart. Where it is large they are too low, too:
// the logarithm of an unbiased estimate is biased by minus half its variance.
class HEADWATER_EXPORT ScoreError {
 public:
  // The arguments of the filter whose score it is; see ModelFilter.
  ScoreError(const Estimate& estimate, bool background, const EngineConfig& engine,
             std::uint64_t seed, std::int64_t phase = 0);

  // What the filter has said of y, which is part of the score or is not. Without particles nothing
  // else happens.
  void step(const Observation& y, const FilterStep& found, bool is_scored = true);
  // The same in two parts: how far the second filter is from the first, if both say something, and
  // a difference that was found here or elsewhere.
  std::optional<double> difference(const Observation& y, const FilterStep& found);
  void add(double difference) { blocks_.add(difference); }
  void pass_over() {
    if (twin_) twin_->pass_over();
  }  // see ModelFilter
  bool has_particles() const { return has_particles_; }
  double standard_error() const;  // 0 without particles

  // The same for given differences.
  class Blocks {
   public:
    void add(double difference);
    double standard_error() const;

   private:
    std::vector<double> sums_;  // of the blocks that are full
    double sum_ = 0;            // of the block that is not
    std::int64_t size_ = 0;
    std::int64_t length_ = 1;
  };

 private:
  std::optional<ModelFilter> twin_;
  bool has_begun_ = false;
  bool has_particles_ = false;
  Blocks blocks_;
};

}  // namespace headwater
