#pragma once

#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/emission/count_masses.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

// The sums of the M-step under the hurdle law, with or without levels. Where the Poisson law has a
// count y, the hurdle law has the expected Poisson count behind it, mu / (1 - P(0)):
//   s2(m, k) += sum_t sum_x w_t(x) B(m, k) x_k exposure / (1 - P(0)),
// over the cells that have a count.
class HurdleSums final : public EmissionSums {
 public:
  std::unique_ptr<EmissionSums> clone() const override {
    return std::make_unique<HurdleSums>(*this);
  }
  void add(const Matrix& states, const Emission& emission, const Eigen::Ref<const Matrix>& weights,
           std::span<const Observation* const> observations, Statistics& out) override;
  void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                         const Eigen::Ref<const Vector>& weights, const Observation& y,
                         Statistics& out) override;

 private:
  // The counts of observations without levels whose exposures are 1.
  void add_block_counts(const Matrix& states, const Emission& emission,
                        const Eigen::Ref<const Matrix>& weights, Statistics& out);
  // Adds the losses of cells without a count, and of missing ones, where there are levels.
  void add_silent_losses(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                         const Eigen::Ref<const Vector>& weights, const Observation& y,
                         Statistics& out);

  CountMasses masses_;
  std::vector<const Observation*> plain_;  // of a block; null where one is not
  Matrix means_;                           // K x T: sum_x w_t(x) x
  Vector mean_;
  Vector silences_;
  Vector presences_;
  Vector shares_;
  // Cells without a count.
  std::vector<Index> channels_;
  std::vector<double> exposures_;
  std::vector<double> scales_;
  std::vector<double> rows_;
  std::vector<double> losses_;
};

}  // namespace headwater
