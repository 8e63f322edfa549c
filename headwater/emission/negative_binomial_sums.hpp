#pragma once

#include <vector>

#include "headwater/emission/poisson_sums.hpp"
#include "headwater/emission/quiet_sums.hpp"

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
//
// Where channels are many and counts few, the first part is left to QuietSums until finish(), for
// every channel that is not loud. Cells with an exposure other than 1 are taken out of it and added
// one by one.
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
  bool is_quick(const Emission& emission, const Observation& y) const override;
  void add_law_statistics_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                                 const Eigen::Ref<const Vector>& weights, const Observation& y,
                                 Statistics& out) override;
  void finish(const Emission& emission, Statistics& out) override;

 private:
  // Cells of some channels, each with its count and exposure, and the sums of the kernel over them.
  struct Cells {
    void clear();
    void add(Index channel, double count, double exposure, double dispersion, double limit,
             const double* row, Index columns);
    // Those of some channels, which ascend, whose rows this process adds up, at exposure 1, without
    // counts.
    void take(std::span<const Index> those, const Emission& emission);
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

  // Adds what differs from the Poisson law for an observation that is not plain: of all cells, or
  // of those alone whose exposure is not 1.
  enum class Which { kAll, kExposed };
  void add_softening(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                     const Eigen::Ref<const Vector>& weights, const Observation& y, Which which,
                     Statistics& out);
  // For plain observations: the part of some channels that is the same for all observations, given
  // the sum of their weights. Times `factor`: -1 takes it back.
  void add_common(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                  const Eigen::Ref<const Vector>& weights, std::span<const Index> channels,
                  double factor, Statistics& out);
  // ... of all channels.
  void add_common(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                  const Eigen::Ref<const Vector>& weights, Statistics& out);
  // ... where most of it is left to finish(), by what `sums` is for.
  void add_quiet_common(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                        const Eigen::Ref<const Vector>& weights, const QuietChannels& quiet,
                        QuietSums& sums, Statistics& out);
  // Everything of an observation but s1 and s2.
  void add_quietly(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                   const Eigen::Ref<const Vector>& weights, const Observation& y,
                   const QuietChannels& quiet, QuietSums& sums, Statistics& out);
  // ... and the part of the counts of plain observations in a block.
  void add_block_counts(const Matrix& states, const Emission& emission,
                        const Eigen::Ref<const Matrix>& weights, Statistics& out);
  // ... and of the counts of one, where the exposure is 1.
  void add_softened_counts(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                           const Eigen::Ref<const Vector>& weights, const Observation& y,
                           Statistics& out);

  // What keeps counts from asking for too much dispersion.
  void add_asked_by_block(const Matrix& states, const Matrix& basis,
                          const Eigen::Ref<const Matrix>& weights, Index m, double phi,
                          Statistics& out);
  void add_asked_by_cell(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                         const Eigen::Ref<const Vector>& weights, Index m, double count,
                         double exposure, Statistics& out);

  PoissonSums poisson_;
  Cells cells_;
  // Of the channels with a count.
  std::vector<std::size_t> counted_;  // where they are in the observation's list
  std::vector<double> counted_scales_;
  std::vector<double> counted_rows_;
  std::vector<double> counted_losses_;
  std::vector<Index> all_channels_;
  // Work left to finish(): for everything, for losses alone, for the law's statistics alone.
  QuietSums quiet_sums_;
  QuietSums quiet_losses_;
  QuietSums quiet_statistics_;
  std::vector<Index> beyond_;  // states that no polynomial is good enough for
  Matrix beyond_states_;
  Vector beyond_weights_;
  Matrix unwanted_;
  CountMasses masses_;
  std::vector<const Observation*> plain_;  // of a block; null where one is not
  Vector block_weights_;                   // the sum of theirs
  Vector block_sums_;                      // of the weights of each observation
  Vector softened_mass_;
  Vector means_;  // of one channel, given each state
  Vector mean_;
};

}  // namespace headwater
