#pragma once

#include <vector>

#include "headwater/emission/poisson_sums.hpp"

namespace headwater {

class NegativeBinomialBlocks;

// The sums of the M-step under the negative binomial law. s1 and s2 are those of the Poisson law. A
// cell's loss is its exposure times E[epsilon | y, x] = (1 + phi y) / (1 + z), z = phi exposure
// lambda, so that of a channel and its activations
//   unseen(m, k) += sum w x_k (1 - exposure (1 + phi y) / (1 + z)).
// An observation is plain if all exposures are 1 and it has no dispersions of its own. Then
//   (1 + phi y) / (1 + z) = 1 / (1 + z) + phi y / (1 + z):
// the first part is the same for every observation of a block, and is summed up once a block; the
// second belongs to the counts.
class NegativeBinomialSums final : public EmissionSums {
 public:
  std::unique_ptr<EmissionSums> clone() const override {
    return std::make_unique<NegativeBinomialSums>(*this);
  }
  void add(const Matrix& states, const Emission& emission, const Eigen::Ref<const Matrix>& weights,
           std::span<const Observation* const> observations, Statistics& out) override;
  void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                         const Eigen::Ref<const Vector>& weights, const Observation& y,
                         Statistics& out) override;

 private:
  // Cells of some channels, each with its count and exposure, and the sums of the kernel over them.
  struct Cells {
    void clear();
    void add(Index channel, double count, double exposure, double dispersion, double limit,
             const double* row, Index columns);
    // All channels whose rows this process adds up, at exposure 1, without counts.
    void take_all(const Emission& emission);
    void take_sums(const Eigen::Ref<const Matrix>& states, std::span<const double> weights);

    std::vector<Index> channels;
    std::vector<double> counts;
    std::vector<double> exposures;
    std::vector<double> scales;
    std::vector<double> dispersions;
    std::vector<double> limits;
    std::vector<double> rows;
    // What the kernel returns: see SoftenedSums.
    std::vector<double> losses;
    std::vector<double> bends;
    std::vector<double> slopes;
    std::vector<double> informations;
  };

  // Adds what differs from the Poisson law for an observation that is not plain.
  void add_softening(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                     const Eigen::Ref<const Vector>& weights, const Observation& y,
                     Statistics& out);
  // For plain observations: the part that is the same for all, given the sum of their weights.
  void add_common(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                  const Eigen::Ref<const Vector>& weights, Statistics& out);
  // ... and the part of their counts in a block.
  void add_block_counts(const Matrix& states, const Emission& emission,
                        const Eigen::Ref<const Matrix>& weights, Statistics& out);
  // ... and of the counts of one.
  void add_softened_counts(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                           const Eigen::Ref<const Vector>& weights, const Observation& y,
                           Statistics& out);

  PoissonSums poisson_;
  Cells cells_;
  CountMasses masses_;
  std::vector<const Observation*> plain_;  // of a block; null where one is not
  Vector block_weights_;                   // the sum of theirs
  Vector block_sums_;                      // of the weights of each observation
  Vector softened_mass_;
  Vector mean_;
};

}  // namespace headwater
