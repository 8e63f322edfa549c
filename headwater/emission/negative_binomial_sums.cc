#include "headwater/emission/negative_binomial_sums.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "headwater/emission.hpp"
#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/negative_binomial_blocks.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/negative_binomial.hpp"
#include "headwater/kernels/share_sums.hpp"

namespace headwater {

namespace {

const NegativeBinomialBlocks& law_of(const Emission& emission) {
  return static_cast<const NegativeBinomialBlocks&>(*emission.law());
}

const QuietChannels* quiet_for(const Emission& emission, const Observation& y) {
  return law_of(emission).quiet_for(y, emission.basis_notes().get());
}

// Information that raises no score.
void add_asked(Index channel, double information, double phi, Statistics& out) {
  double* const own = out.s4.data() + channel * DispersionStatistics::kPerChannel;
  own[0] += phi * information;
  own[1] += information;
}

bool is_plain(const Observation& y) { return y.exposed().empty() && y.dispersions().empty(); }

}  // namespace

void NegativeBinomialSums::Cells::clear() {
  for (auto* list : {&counts, &exposures, &scales, &dispersions, &limits, &rows}) list->clear();
  channels.clear();
}

void NegativeBinomialSums::Cells::add(Index channel, double count, double exposure,
                                      double dispersion, double limit, const double* row,
                                      Index columns) {
  channels.push_back(channel);
  counts.push_back(count);
  exposures.push_back(exposure);
  scales.push_back(dispersion * exposure);
  dispersions.push_back(dispersion);
  limits.push_back(limit);
  rows.insert(rows.end(), row, row + columns);
}

void NegativeBinomialSums::Cells::take(std::span<const Index> those, const Emission& emission) {
  const NegativeBinomialBlocks& law = law_of(emission);
  const Index columns = emission.num_columns();
  const Stretch own = own_part(those);
  clear();
  for (const Index m : those.subspan(own.first, own.size)) {
    add(m, 0, 1, law.dispersion(m), law.limit(m), emission.rows().row(m), columns);
  }
}

void NegativeBinomialSums::Cells::take_sums(const Eigen::Ref<const Matrix>& states,
                                            std::span<const double> weights) {
  losses.assign(rows.size(), 0);
  for (auto* list : {&bends, &slopes, &informations}) list->assign(channels.size(), 0);
  add_softened_sums(states, weights, {rows, scales}, {exposures, dispersions, limits},
                    {losses, bends, slopes, informations});
}

void NegativeBinomialSums::add(const Matrix& states, const Emission& emission,
                               const Eigen::Ref<const Matrix>& weights,
                               std::span<const Observation* const> observations, Statistics& out) {
  plain_.clear();
  block_weights_.setZero(states.rows());
  const QuietChannels* quiet = nullptr;
  bool all_quiet = true;
  for (std::size_t t = 0; t < observations.size(); ++t) {
    const auto own = weights.col(static_cast<Index>(t));
    const bool plain = is_plain(*observations[t]);
    plain_.push_back(plain ? observations[t] : nullptr);
    if (plain) {
      block_weights_ += own;
      quiet = quiet_for(emission, *observations[t]);
      all_quiet &= quiet != nullptr;
    } else {
      add_one(states, emission, own, *observations[t], out);
    }
  }
  mean_.noalias() = states.transpose() * block_weights_;
  out.s1 += mean_;
  if (all_quiet && quiet != nullptr) {
    add_quiet_common(states, emission, block_weights_, *quiet, quiet_sums_, out);
  } else {
    add_common(states, emission, block_weights_, out);
  }
  add_block_counts(states, emission, weights, out);
  finish(emission, out);
}

void NegativeBinomialSums::add_counts_of_one(const Eigen::Ref<const Matrix>& states,
                                             const Emission& emission,
                                             const Eigen::Ref<const Vector>& weights,
                                             const Observation& y, Statistics& out) {
  poisson_.add_counts_of_one(states, emission, weights, y, out);
  if (const QuietChannels* quiet = quiet_for(emission, y)) {
    QuietSums& sums = out.s4.size() > 0 ? quiet_sums_ : quiet_losses_;
    add_quietly(states, emission, weights, y, *quiet, sums, out);
    return;
  }
  if (is_plain(y)) {
    add_common(states, emission, weights, out);
    add_softened_counts(states, emission, weights, y, out);
    return;
  }
  mean_.noalias() = states.transpose() * weights;
  add_unexposed(y, mean_, out);
  add_softening(states, emission, weights, y, Which::kAll, out);
}

bool NegativeBinomialSums::is_quick(const Emission& emission, const Observation& y) const {
  return quiet_for(emission, y) != nullptr;
}

void NegativeBinomialSums::add_law_statistics_of_one(const Eigen::Ref<const Matrix>& states,
                                                     const Emission& emission,
                                                     const Eigen::Ref<const Vector>& weights,
                                                     const Observation& y, Statistics& out) {
  if (out.s4.size() == 0) return;
  assert(is_quick(emission, y));
  // What is said about the basis is not wanted.
  std::swap(out.unseen, unwanted_);
  add_quietly(states, emission, weights, y, *quiet_for(emission, y), quiet_statistics_, out);
  std::swap(out.unseen, unwanted_);
}

void NegativeBinomialSums::finish(const Emission& emission, Statistics& out) {
  const auto* quiet = static_cast<const QuietChannels*>(emission.basis_notes().get());
  if (quiet == nullptr) return;
  quiet_sums_.finish(*quiet, law_of(emission), {}, out);
  quiet_losses_.finish(*quiet, law_of(emission), {.law_statistics = false}, out);
  quiet_statistics_.finish(*quiet, law_of(emission), {.losses = false}, out);
}

// Cells of other exposures than 1 are taken back and added for themselves.
void NegativeBinomialSums::add_quietly(const Eigen::Ref<const Matrix>& states,
                                       const Emission& emission,
                                       const Eigen::Ref<const Vector>& weights,
                                       const Observation& y, const QuietChannels& quiet,
                                       QuietSums& sums, Statistics& out) {
  add_quiet_common(states, emission, weights, quiet, sums, out);
  add_softened_counts(states, emission, weights, y, out);
  if (y.exposed().empty()) return;
  add_common(states, emission, weights, y.exposed(), -1, out);
  mean_.noalias() = states.transpose() * weights;
  add_unexposed(y, mean_, out);
  add_softening(states, emission, weights, y, Which::kExposed, out);
}

void NegativeBinomialSums::add_quiet_common(const Eigen::Ref<const Matrix>& states,
                                            const Emission& emission,
                                            const Eigen::Ref<const Vector>& weights,
                                            const QuietChannels& quiet, QuietSums& sums,
                                            Statistics& out) {
  if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
  sums.add(states, weights, quiet, beyond_);
  if (!quiet.loud().empty()) add_common(states, emission, weights, quiet.loud(), 1, out);
  if (beyond_.empty()) return;
  beyond_states_ = states(beyond_, Eigen::all);
  beyond_weights_ = weights(beyond_);
  add_common(beyond_states_, emission, beyond_weights_, out);
  if (!quiet.loud().empty()) {
    add_common(beyond_states_, emission, beyond_weights_, quiet.loud(), -1, out);
  }
}

void NegativeBinomialSums::add_common(const Eigen::Ref<const Matrix>& states,
                                      const Emission& emission,
                                      const Eigen::Ref<const Vector>& weights, Statistics& out) {
  if (static_cast<Index>(all_channels_.size()) != emission.num_channels()) {
    all_channels_.resize(static_cast<std::size_t>(emission.num_channels()));
    std::iota(all_channels_.begin(), all_channels_.end(), Index{0});
  }
  add_common(states, emission, weights, all_channels_, 1, out);
}

void NegativeBinomialSums::add_common(const Eigen::Ref<const Matrix>& states,
                                      const Emission& emission,
                                      const Eigen::Ref<const Vector>& weights,
                                      std::span<const Index> channels, double factor,
                                      Statistics& out) {
  if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
  cells_.take(channels, emission);
  cells_.take_sums(states, as_span(weights));
  mean_.noalias() = states.transpose() * weights;
  const Index columns = emission.num_columns();
  const auto size = static_cast<Index>(cells_.channels.size());
  if (size == 0) return;
  const Eigen::Map<const RowMatrix> losses(cells_.losses.data(), size, columns);
  for (Index k = 0; k < columns; ++k) {
    for (Index j = 0; j < size; ++j) {
      out.unseen(cells_.channels[static_cast<std::size_t>(j)], k) +=
          factor * (mean_[k] - losses(j, k));
    }
  }
  if (out.s4.size() == 0) return;
  for (std::size_t j = 0; j < cells_.channels.size(); ++j) {
    double* const own = out.s4.data() + cells_.channels[j] * DispersionStatistics::kPerChannel;
    own[0] += factor * (cells_.dispersions[j] * cells_.informations[j] + cells_.bends[j]);
    own[1] += factor * cells_.informations[j];
  }
}

void NegativeBinomialSums::add_block_counts(const Matrix& states, const Emission& emission,
                                            const Eigen::Ref<const Matrix>& weights,
                                            Statistics& out) {
  const NegativeBinomialBlocks& law = law_of(emission);
  const Matrix& basis = emission.basis();
  masses_.sort(plain_, emission.num_channels());
  masses_.for_each(
      states, basis, weights, [&](Index m, const auto& tile, auto& mass, const auto& intensity) {
        const double phi = law.dispersion(m);
        softened_mass_ = phi * mass.array() / (1 + phi * intensity.array());
        for (Index k = 0; k < tile.cols(); ++k) {
          out.unseen(m, k) -= tile.col(k).dot(softened_mass_);
        }
        if (out.s4.size() > 0) {
          softened_mass_ = mass.array() * intensity.array() / (1 + phi * intensity.array());
          out.s4[m * DispersionStatistics::kPerChannel] -= softened_mass_.sum();
        }
        add_shares(m, tile, basis, mass, intensity, out);
      });
  if (out.s4.size() == 0) return;
  block_sums_ = weights.colwise().sum();
  const Stretch own = own_rows(emission.num_channels());
  for (std::size_t i = own.first; i < own.first + own.size; ++i) {
    const auto m = static_cast<Index>(i);
    const double phi = law.dispersion(m);
    for (const CountMasses::Cell& cell : masses_.cells(m)) {
      out.s4[m * DispersionStatistics::kPerChannel] +=
          block_sums_[cell.time] * negative_binomial::rising_slope(cell.count, phi);
    }
    add_asked_by_block(states, basis, weights, m, phi, out);
  }
}

// See asked_information(). Of the counts of one channel in a block.
void NegativeBinomialSums::add_asked_by_block(const Matrix& states, const Matrix& basis,
                                              const Eigen::Ref<const Matrix>& weights, Index m,
                                              double phi, Statistics& out) {
  if (masses_.cells(m).empty()) return;
  means_.noalias() = states * basis.row(m).transpose();
  for (const CountMasses::Cell& cell : masses_.cells(m)) {
    add_asked(m,
              negative_binomial::asked_information(cell.count, means_, weights.col(cell.time), phi),
              phi, out);
  }
}

// ... and of one cell.
void NegativeBinomialSums::add_asked_by_cell(const Eigen::Ref<const Matrix>& states,
                                             const Emission& emission,
                                             const Eigen::Ref<const Vector>& weights, Index m,
                                             double count, double exposure, Statistics& out) {
  if (count <= 1) return;
  const Eigen::Map<const Vector> row(emission.rows().row(m), states.cols());
  means_.noalias() = exposure * (states * row);
  const double phi = law_of(emission).dispersion(m);
  add_asked(m, negative_binomial::asked_information(count, means_, weights, phi), phi, out);
}

// With L for sum_i w_i x_i / (1 + z_i), what a count adds to the loss is phi y L, and
// sum_i w_i lambda_i / (1 + z_i) is B L.
void NegativeBinomialSums::add_softened_counts(const Eigen::Ref<const Matrix>& states,
                                               const Emission& emission,
                                               const Eigen::Ref<const Vector>& weights,
                                               const Observation& y, Statistics& out) {
  const NegativeBinomialBlocks& law = law_of(emission);
  const Index columns = emission.num_columns();
  counted_.clear();
  counted_scales_.clear();
  const Stretch own = own_part(y.channels());
  for_each_count(y, [&](std::size_t j, double exposure) {
    if (j - own.first >= own.size || exposure != 1) return;
    counted_.push_back(j);
    counted_scales_.push_back(law.dispersion(y.channels()[j]));
  });
  counted_rows_.resize(counted_.size() * static_cast<std::size_t>(columns));
  double* to = counted_rows_.data();
  for (const std::size_t j : counted_) {
    to = std::copy_n(emission.rows().row(y.channels()[j]), columns, to);
  }
  counted_losses_.assign(counted_rows_.size(), 0);
  add_softened_shares(states, as_span(weights), {counted_rows_, counted_scales_}, counted_losses_);
  const double weight = weights.sum();
  for (std::size_t i = 0; i < counted_.size(); ++i) {
    const Index m = y.channels()[counted_[i]];
    const double phi = counted_scales_[i];
    const double count = y.counts()[counted_[i]];
    const auto at = static_cast<Index>(i) * columns;
    const double* const losses = counted_losses_.data() + at;
    for (Index k = 0; k < columns; ++k) out.unseen(m, k) -= phi * count * losses[k];
    if (out.s4.size() == 0) continue;
    const double* const row = counted_rows_.data() + at;
    const double slope = std::inner_product(row, row + columns, losses, 0.0);
    out.s4[m * DispersionStatistics::kPerChannel] +=
        weight * negative_binomial::rising_slope(count, phi) - count * slope;
    add_asked_by_cell(states, emission, weights, m, count, 1, out);
  }
}

// With L for sum_i w_i x_i / (1 + z_i), the loss of a cell is exposure (1 + phi y) L where that of
// the Poisson law is exposure sum_i w_i x_i.
void NegativeBinomialSums::add_softening(const Eigen::Ref<const Matrix>& states,
                                         const Emission& emission,
                                         const Eigen::Ref<const Vector>& weights,
                                         const Observation& y, Which which, Statistics& out) {
  const NegativeBinomialBlocks& law = law_of(emission);
  const Index columns = emission.num_columns();
  if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
  cells_.clear();
  const Stretch rows = own_rows(emission.num_channels());
  for_each_seen(y, [&](Index m, double count, double exposure) {
    if (static_cast<std::size_t>(m) - rows.first >= rows.size) return;
    if (which == Which::kExposed && exposure == 1) return;
    cells_.add(m, count, exposure, law.dispersion(y, m), law.limit(m), emission.rows().row(m),
               emission.rows().cols());
  });
  cells_.take_sums(states, as_span(weights));
  mean_.noalias() = states.transpose() * weights;
  const double weight = weights.sum();
  for (std::size_t j = 0; j < cells_.channels.size(); ++j) {
    const Index m = cells_.channels[j];
    const double phi = cells_.dispersions[j];
    const double count = cells_.counts[j];
    const double* losses = cells_.losses.data() + j * static_cast<std::size_t>(columns);
    for (Index k = 0; k < columns; ++k) {
      out.unseen(m, k) += cells_.exposures[j] * (mean_[k] - (1 + phi * count) * losses[k]);
    }
    // What an observation with dispersions of its own says about the law's is not known here.
    if (out.s4.size() == 0 || !y.dispersions().empty()) continue;
    const double score = weight * negative_binomial::rising_slope(count, phi) + cells_.bends[j] -
                         count * cells_.slopes[j];
    double* const own = out.s4.data() + m * DispersionStatistics::kPerChannel;
    own[0] += phi * cells_.informations[j] + score;
    own[1] += cells_.informations[j];
    add_asked_by_cell(states, emission, weights, m, count, cells_.exposures[j], out);
  }
}

}  // namespace headwater
