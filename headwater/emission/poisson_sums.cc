#include "headwater/emission/poisson_sums.hpp"

#include <algorithm>

#include "headwater/emission.hpp"
#include "headwater/kernels/share_sums.hpp"
#include "headwater/kernels/weighted_columns.hpp"

namespace headwater {

namespace {

// States at a time: a tile of the weights of a few dozen observations stays in the fast caches
// while every channel passes over it.
constexpr Index kTile = 512;

}  // namespace

void PoissonSums::add(const Matrix& states, const Emission& emission,
                      const Eigen::Ref<const Matrix>& weights,
                      std::span<const Observation* const> observations, Statistics& out) {
  means_.noalias() = states.transpose() * weights;
  out.s1 += means_.rowwise().sum();
  for (std::size_t t = 0; t < observations.size(); ++t) {
    add_unexposed(*observations[t], means_.col(static_cast<Index>(t)), out);
  }
  sort_by_channel(observations, emission.num_channels());
  add_counts(states, emission.basis(), weights, out);
}

// By counting.
void PoissonSums::sort_by_channel(std::span<const Observation* const> observations,
                                  Index num_channels) {
  begin_.assign(static_cast<std::size_t>(num_channels) + 1, 0);
  for (const Observation* y : observations) {
    for (const Index m : y->channels()) ++begin_[static_cast<std::size_t>(m) + 1];
  }
  for (std::size_t m = 1; m < begin_.size(); ++m) begin_[m] += begin_[m - 1];
  cells_.resize(begin_.back());
  for (std::size_t t = observations.size(); t-- > 0;) {
    const Observation& y = *observations[t];
    for (std::size_t j = 0; j < y.channels().size(); ++j) {
      const auto m = static_cast<std::size_t>(y.channels()[j]);
      cells_[--begin_[m + 1]] = {static_cast<Index>(t), y.counts()[j]};
    }
  }
  // begin_[m + 1] is now where channel m begins.
  for (std::size_t m = 0; m + 1 < begin_.size(); ++m) begin_[m] = begin_[m + 1];
  begin_.back() = cells_.size();
}

void PoissonSums::add_counts(const Matrix& states, const Matrix& basis,
                             const Eigen::Ref<const Matrix>& weights, Statistics& out) {
  const Index num_states = states.rows();
  mass_.resize(std::min(kTile, num_states));
  intensity_.resize(mass_.size());
  for (Index first = 0; first < num_states; first += kTile) {
    const Index size = std::min(kTile, num_states - first);
    const auto tile = states.middleRows(first, size);
    auto mass = mass_.head(size);
    auto intensity = intensity_.head(size);
    for (Index m = 0; m < basis.rows(); ++m) {
      const std::size_t end = begin_[static_cast<std::size_t>(m) + 1];
      std::size_t at = begin_[static_cast<std::size_t>(m)];
      if (at == end) continue;
      columns_.clear();
      counts_.clear();
      for (; at < end; ++at) {
        columns_.push_back(weights.col(cells_[at].time).data() + first);
        counts_.push_back(cells_[at].count);
      }
      mass.setZero();
      add_weighted_columns(columns_, counts_, as_span(mass));
      intensity.noalias() = tile * basis.row(m).transpose();
      // A state of zero intensity cannot have given the counts: it has no mass, or had some only
      // under the basis that the weights were computed with.
      mass = (intensity.array() > 0).select(mass.array() / intensity.array(), 0.0);
      for (Index k = 0; k < states.cols(); ++k) {
        out.s2(m, k) += basis(m, k) * tile.col(k).dot(mass);
      }
    }
  }
}

void PoissonSums::add_counts_of_one(const Eigen::Ref<const Matrix>& states,
                                    const Emission& emission,
                                    const Eigen::Ref<const Vector>& weights, const Observation& y,
                                    Statistics& out) {
  const Index columns = emission.num_columns();
  rows_.clear();
  for (const Index m : y.channels()) {
    const double* row = emission.rows().row(m);
    rows_.insert(rows_.end(), row, row + columns);
  }
  shares_.assign(rows_.size(), 0);
  add_share_sums(states, as_span(weights), rows_, y.counts(), shares_);
  auto share = shares_.begin();
  for (const Index m : y.channels()) {
    for (Index k = 0; k < columns; ++k) out.s2(m, k) += *share++;
  }
}

}  // namespace headwater
