#pragma once

#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

// The sums of the M-step under the Poisson law:
//   s2(m, k) += sum_t y_tm sum_x w_t(x) B(m, k) x_k / lambda_m(x).
// In a block the sum over t is inside the one over x, so that a channel is divided by its intensity
// once a block and not once an observation; a channel without a count all through the block costs
// nothing.
class PoissonSums final : public EmissionSums {
 public:
  std::unique_ptr<EmissionSums> clone() const override {
    return std::make_unique<PoissonSums>(*this);
  }
  void add(const Matrix& states, const Emission& emission, const Eigen::Ref<const Matrix>& weights,
           std::span<const Observation* const> observations, Statistics& out) override;
  void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                         const Eigen::Ref<const Vector>& weights, const Observation& y,
                         Statistics& out) override;

 private:
  // A count of the block, and the observation that it belongs to.
  struct Cell {
    Index time;
    double count;
  };
  void sort_by_channel(std::span<const Observation* const> observations, Index num_channels);
  void add_counts(const Matrix& states, const Matrix& basis,
                  const Eigen::Ref<const Matrix>& weights, Statistics& out);

  Matrix means_;                    // K x T: sum_x w_t(x) x
  std::vector<Cell> cells_;         // channel by channel, time ascending
  std::vector<std::size_t> begin_;  // of each channel's cells, and where the last ones end
  Vector mass_;       // of a tile of states: sum_t y_tm w_t(x), then that over lambda_m(x)
  Vector intensity_;  // of the same tile
  std::vector<const double*> columns_;  // weights of the observations in which a channel has counts
  std::vector<double> counts_;
  std::vector<double> rows_;    // of the basis, for the channels with a count
  std::vector<double> shares_;  // ... and what they add to s2
};

}  // namespace headwater
