#pragma once

#include <span>
#include <vector>

#include "headwater/core/matrix.hpp"
#include "headwater/models/observation.hpp"
#include "headwater/smoothers/statistics.hpp"

namespace headwater {

// Adds the statistics of a block of observations, given the law of each one's activation on a
// finite set of states:
//   s1(k)    += sum_t sum_x w_t(x) x_k
//   s2(m, k) += sum_t y_tm sum_x w_t(x) B(m, k) x_k / lambda_m(x)
// states: n x K, one row a state.
// weights: n x T, one column an observation, already multiplied by what the observation counts for.
// observations: T of them.
//
// The sum over t is inside the one over x, so that a channel is divided by its intensity once a
// block and not once an observation; a channel that is zero all through the block costs nothing.
class EmissionStatistics {
 public:
  void add(const Matrix& states, const Matrix& basis, const Eigen::Ref<const Matrix>& weights,
           std::span<const Observation> observations, Statistics& out);

  // The same of one observation, by the channels that it has counts in.
  void add_one(const Eigen::Ref<const Matrix>& states, const Matrix& basis,
               const Eigen::Ref<const Vector>& weights, Observation y, Statistics& out);
  // s2 alone.
  void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Matrix& basis,
                         const Eigen::Ref<const Vector>& weights, Observation y, Statistics& out);

 private:
  static void add_unseen(std::span<const Observation> observations, const Matrix& means,
                         Statistics& out);
  void add_counts(const Matrix& states, const Matrix& basis,
                  const Eigen::Ref<const Matrix>& weights,
                  std::span<const Observation> observations, Statistics& out);

  Vector mass_;       // of a tile of states: sum_t y_tm w_t(x), then that over lambda_m(x)
  Vector intensity_;  // of the same tile
  Matrix means_;      // K x T: sum_x w_t(x) x
  std::vector<const double*> columns_;  // weights of the observations in which a channel has counts
  std::vector<double> counts_;

  std::vector<Index> channels_;  // with a count, in one observation
  std::vector<double> rows_;     // theirs of the basis
  std::vector<double> shares_;   // ... and what they add to s2
};

}  // namespace headwater
