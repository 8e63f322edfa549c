#include "headwater/smoothers/emission_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/kernels/share_sums.hpp"
#include "headwater/kernels/weighted_columns.hpp"

namespace headwater {

namespace {

// States at a time: a tile of the weights of a few dozen observations stays in the fast caches
// while every channel passes over it.
constexpr Index kTile = 512;

}  // namespace

void EmissionStatistics::add(const Matrix& states, const Matrix& basis,
                             const Eigen::Ref<const Matrix>& weights,
                             std::span<const Observation> observations, Statistics& out) {
  means_.noalias() = states.transpose() * weights;
  out.s1 += means_.rowwise().sum();
  add_unseen(observations, means_, out);
  add_counts(states, basis, weights, observations, out);
}

void EmissionStatistics::add_unseen(std::span<const Observation> observations, const Matrix& means,
                                    Statistics& out) {
  for (std::size_t t = 0; t < observations.size(); ++t) {
    for (Index m = 0; m < out.s2.rows(); ++m) {
      const double exposure = observations[t].exposure(m);
      if (exposure == 1) continue;
      if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
      out.unseen.row(m) += (1 - exposure) * means.col(static_cast<Index>(t)).transpose();
    }
  }
}

void EmissionStatistics::add_counts(const Matrix& states, const Matrix& basis,
                                    const Eigen::Ref<const Matrix>& weights,
                                    std::span<const Observation> observations, Statistics& out) {
  const Index num_states = states.rows();
  mass_.resize(std::min(kTile, num_states));
  intensity_.resize(mass_.size());
  for (Index first = 0; first < num_states; first += kTile) {
    const Index size = std::min(kTile, num_states - first);
    const auto tile = states.middleRows(first, size);
    auto mass = mass_.head(size);
    auto intensity = intensity_.head(size);
    for (Index m = 0; m < basis.rows(); ++m) {
      columns_.clear();
      counts_.clear();
      for (std::size_t t = 0; t < observations.size(); ++t) {
        const double count = observations[t][m];
        if (!(count > 0)) continue;
        columns_.push_back(weights.col(static_cast<Index>(t)).data() + first);
        counts_.push_back(count);
      }
      if (columns_.empty()) continue;
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

void EmissionStatistics::add_one(const Eigen::Ref<const Matrix>& states, const Matrix& basis,
                                 const Eigen::Ref<const Vector>& weights, Observation y,
                                 Statistics& out) {
  means_.resize(states.cols(), 1);
  means_.noalias() = states.transpose() * weights;
  out.s1 += means_;
  add_unseen({&y, 1}, means_, out);
  add_counts_of_one(states, basis, weights, y, out);
}

void EmissionStatistics::add_counts_of_one(const Eigen::Ref<const Matrix>& states,
                                           const Matrix& basis,
                                           const Eigen::Ref<const Vector>& weights, Observation y,
                                           Statistics& out) {
  channels_.clear();
  counts_.clear();
  rows_.clear();
  for (Index m = 0; m < basis.rows(); ++m) {
    if (!(y[m] > 0)) continue;
    channels_.push_back(m);
    counts_.push_back(y[m]);
    for (Index k = 0; k < basis.cols(); ++k) rows_.push_back(basis(m, k));
  }
  shares_.assign(rows_.size(), 0);
  add_share_sums(states, as_span(weights), rows_, counts_, shares_);
  auto share = shares_.begin();
  for (const Index m : channels_) {
    for (Index k = 0; k < basis.cols(); ++k) out.s2(m, k) += *share++;
  }
}

}  // namespace headwater
