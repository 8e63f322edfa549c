#include "headwater/emission/negative_binomial_sums.hpp"

#include "headwater/emission.hpp"
#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/negative_binomial_blocks.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/negative_binomial.hpp"

namespace headwater {

namespace {

const NegativeBinomialBlocks& law_of(const Emission& emission) {
  return static_cast<const NegativeBinomialBlocks&>(*emission.law());
}

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
  poisson_.add(states, emission, weights, observations, out);
  for (std::size_t t = 0; t < observations.size(); ++t) {
    add_softening(states, emission, weights.col(static_cast<Index>(t)), *observations[t], out);
  }
}

void NegativeBinomialSums::add_counts_of_one(const Eigen::Ref<const Matrix>& states,
                                             const Emission& emission,
                                             const Eigen::Ref<const Vector>& weights,
                                             const Observation& y, Statistics& out) {
  poisson_.add_counts_of_one(states, emission, weights, y, out);
  mean_.noalias() = states.transpose() * weights;
  add_unexposed(y, mean_, out);
  add_softening(states, emission, weights, y, out);
}

// With L for sum_i w_i x_i / (1 + z_i), the loss of a cell is exposure (1 + phi y) L where that of
// the Poisson law is exposure sum_i w_i x_i.
void NegativeBinomialSums::add_softening(const Eigen::Ref<const Matrix>& states,
                                         const Emission& emission,
                                         const Eigen::Ref<const Vector>& weights,
                                         const Observation& y, Statistics& out) {
  const NegativeBinomialBlocks& law = law_of(emission);
  const Index columns = emission.num_columns();
  if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
  cells_.clear();
  for_each_seen(y, [&](Index m, double count, double exposure) {
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
  }
}

}  // namespace headwater
