#pragma once

#include <cstdint>
#include <span>

#include "headwater/learning/law_choice.hpp"
#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// Compares candidates (models, or fits in progress) by the log-probabilities that they gave to the
// same observations, each before it was seen.
//
// Neighbouring observations are correlated, and so are the differences between two candidates. So
// the standard error of a difference comes from the means of batches (batch means
// [GlynnWhitt1991]): long batches are nearly independent. Memory does not grow: when all batches
// are full, neighbours are joined and batches are twice as long from then on.
class PairedScores {
 public:
  explicit PairedScores(Index num_candidates = 0)
      : sums_(Matrix::Zero(num_candidates, kMostBatches)) {}

  Index num_candidates() const { return sums_.rows(); }
  std::int64_t observations() const { return observations_; }  // that all gave a probability to
  std::int64_t left_out() const { return left_out_; }

  // One log-probability for each candidate. An observation that one of them calls impossible (-inf)
  // is left out for all.
  void add(std::span<const double> log_probabilities);

  double mean(Index candidate) const;  // 0 without an observation
  // How much better `candidate` predicts than `other`, an observation. The standard error is
  // infinite where there are fewer than kFewestBatches batches.
  Gain difference(Index candidate, Index other) const;
  // The candidate of the largest mean.
  Index best() const;
  // The first candidate that is within one standard error of the best, or within `margin`: in a
  // list that begins with the simplest one, the simplest that may be as good.
  Index first_as_good_as_best(double margin = 0) const;

  void exchange(StateArchive& archive);

  static constexpr Index kMostBatches = 64;
  static constexpr Index kFewestBatches = 8;

 private:
  void join_neighbours();

  Matrix sums_;              // of a candidate (row) in a batch (column)
  Index full_ = 0;           // batches; the next column is being filled
  std::int64_t filled_ = 0;  // observations in that one
  std::int64_t length_ = 1;  // observations in a full batch
  std::int64_t observations_ = 0;
  std::int64_t left_out_ = 0;
};

}  // namespace headwater
