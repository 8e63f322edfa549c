#pragma once

#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/emission/count_masses.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

// Of a channel with counts and a tile of states: s2(m, k) += B(m, k) sum_x mass(x) x_k / lambda(x).
// Overwrites the mass.
template <class Tile, class Mass, class Intensity>
void add_shares(Index m, const Tile& tile, const Matrix& basis, Mass& mass,
                const Intensity& intensity, Statistics& out) {
  // A state of zero intensity cannot have given the counts: it has no mass, or had some only under
  // the basis that the weights were computed with.
  mass = (intensity.array() > 0).select(mass.array() / intensity.array(), 0.0);
  for (Index k = 0; k < tile.cols(); ++k) {
    out.s2(m, k) += basis(m, k) * tile.col(k).dot(mass);
  }
}

// The sums of the M-step under the Poisson law:
//   s2(m, k) += sum_t y_tm sum_x w_t(x) B(m, k) x_k / lambda_m(x).
// In a block the sum over t is inside the one over x: see CountMasses.
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
  Matrix means_;  // K x T: sum_x w_t(x) x
  CountMasses masses_;
  std::vector<double> rows_;    // of the basis, for the channels with a count
  std::vector<double> shares_;  // ... and what they add to s2
};

}  // namespace headwater
