#pragma once

#include <array>
#include <vector>

#include "headwater/emission/quiet_channels.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

class NegativeBinomialBlocks;

// What quiet channels add to the sums of the M-step as if they had no counts:
//   unseen(m, k) += sum_i w_i x_ik z / (1 + z),   z = phi_m lambda_m(x_i),
// and the statistics of the dispersions. As functions of z they are replaced by polynomials (see
// QuietChannels), so that of activations and their weights only sums of powers are needed:
//   sum_i w_i x_i^a, for all products of up to D activations.
// Those are added up for each observation. finish() makes the sums of all channels of them, once
// for many observations.
class QuietSums {
 public:
  bool empty() const;
  // Adds activations in the rows of `states`. Lists those in `beyond` for which no polynomial is
  // good enough; they are not added.
  void add(const Eigen::Ref<const Matrix>& states, const Eigen::Ref<const Vector>& weights,
           const QuietChannels& quiet, std::vector<Index>& beyond);
  // Adds the sums of all channels to `out`, and forgets what was added.
  struct Wanted {
    bool losses = true;
    bool law_statistics = true;
  };
  void finish(const QuietChannels& quiet, const NegativeBinomialBlocks& law, const Wanted& wanted,
              Statistics& out);

 private:
  void finish_with(int nodes, const QuietChannels& quiet, const NegativeBinomialBlocks& law,
                   const Wanted& wanted, Statistics& out);
  // Of the channels from `first` on whose parts have been taken.
  void add_law_statistics(int nodes, Index first, const QuietChannels& quiet,
                          const NegativeBinomialBlocks& law, Statistics& out) const;

  std::array<std::vector<double>, QuietChannels::kMostNodes + 1> moments_;  // by number of nodes
  std::array<std::vector<Index>, QuietChannels::kMostNodes + 1> by_nodes_;
  Matrix points_;
  Matrix weights_;
  std::vector<const QuietSeries*> series_;
  Matrix slope_weights_;
  Matrix parts_;
  Matrix slopes_;
};

}  // namespace headwater
