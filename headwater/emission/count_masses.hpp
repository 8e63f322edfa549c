#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "headwater/emission/shared_rows.hpp"
#include "headwater/kernels/weighted_columns.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// The counts of a block of observations whose activations are among the same states x, sorted by
// channel. With weights w_t(x), the mass of a channel is
//   mass_m(x) = sum_t y_tm w_t(x).
// All sums over counts follow from it, so that a channel is divided by its intensity once a block
// and not once an observation. A channel without a count all through the block costs nothing.
class CountMasses {
 public:
  struct Cell {
    Index time;
    double count;
  };

  // What y_tm above stands for: the counts, or 1 for each of them.
  enum class Of { kCounts, kPresence };

  // Observations that are null are left out.
  void sort(std::span<const Observation* const> observations, Index num_channels,
            Of of = Of::kCounts);

  // The counts of one channel, time ascending.
  std::span<const Cell> cells(Index channel) const {
    const auto m = static_cast<std::size_t>(channel);
    return std::span(cells_).subspan(begin_[m], begin_[m + 1] - begin_[m]);
  }

  // Calls visit(channel, tile, mass, intensity) for each tile of states and each channel with a
  // count, of those whose rows this process adds up (see own_rows). states: n x K; weights: n x T.
  // visit may overwrite mass and intensity.
  template <class Visit>
  void for_each(const Matrix& states, const Matrix& basis, const Eigen::Ref<const Matrix>& weights,
                const Visit& visit) {
    const Index num_states = states.rows();
    mass_.resize(std::min(kTile, num_states));
    intensity_.resize(mass_.size());
    const Stretch own = own_rows(basis.rows());
    const auto first_own = static_cast<Index>(own.first);
    const Index end_of_own = first_own + static_cast<Index>(own.size);
    for (Index first = 0; first < num_states; first += kTile) {
      const Index size = std::min(kTile, num_states - first);
      const auto tile = states.middleRows(first, size);
      auto mass = mass_.head(size);
      auto intensity = intensity_.head(size);
      for (Index m = first_own; m < end_of_own; ++m) {
        if (cells(m).empty()) continue;
        columns_.clear();
        counts_.clear();
        for (const Cell& cell : cells(m)) {
          columns_.push_back(weights.col(cell.time).data() + first);
          counts_.push_back(cell.count);
        }
        mass.setZero();
        add_weighted_columns(columns_, counts_, as_span(mass));
        intensity.noalias() = tile * basis.row(m).transpose();
        visit(m, tile, mass, intensity);
      }
    }
  }

 private:
  // States at a time: a tile of the weights of a few dozen observations stays in the fast caches
  // while every channel passes over it.
  static constexpr Index kTile = 512;

  std::vector<Cell> cells_;         // channel by channel
  std::vector<std::size_t> begin_;  // of each channel's cells, and where the last ones end
  Vector mass_;                     // of a tile of states
  Vector intensity_;
  std::vector<const double*> columns_;  // weights of the observations in which a channel has counts
  std::vector<double> counts_;
};

}  // namespace headwater
