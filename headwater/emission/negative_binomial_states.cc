#include "headwater/emission/negative_binomial_states.hpp"

#include <cmath>

#include "headwater/emission/negative_binomial_blocks.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/weighted_columns.hpp"

namespace headwater {

namespace {

// 1 GiB of numbers; beyond that they are computed anew for each observation.
constexpr Index kLargestOddsTable = Index{1} << 27;

}  // namespace

std::unique_ptr<StateLikelihoods> NegativeBinomialStateLikelihoods::clone() const {
  return std::make_unique<NegativeBinomialStateLikelihoods>(*this);
}

void NegativeBinomialStateLikelihoods::set_emission(const Emission& emission) {
  const Index channels = emission.num_channels();
  if (channels != basis_.rows()) {
    const bool fits = channels <= kLargestOddsTable / num_states();
    table_.resize(num_states(), fits ? channels : 1);
    is_filled_.resize(fits ? static_cast<std::size_t>(channels) : 0);
  }
  basis_ = emission.basis();
  const auto& law = static_cast<const NegativeBinomialBlocks&>(*emission.law());
  dispersion_.resize(channels);
  for (Index m = 0; m < channels; ++m) dispersion_[m] = law.dispersion(m);
  total_.setZero(num_states());
  Reducer::sum(stretches_of_all(channels), as_span(total_),
               [&](const Stretch& stretch, std::span<double> to) {
                 Eigen::Map<Vector> sums(to.data(), static_cast<Index>(to.size()));
                 const auto first = static_cast<Index>(stretch.first);
                 for (Index m = first; m < first + static_cast<Index>(stretch.size); ++m) {
                   add_softened(m, 1, 1, sums);
                 }
               });
  is_filled_.assign(is_filled_.size(), false);
}

void NegativeBinomialStateLikelihoods::add_softened(Index channel, double exposure, double factor,
                                                    Eigen::Ref<Vector> out) {
  const double phi = dispersion_[channel];
  intensity_.noalias() = states() * (exposure * basis_.row(channel).transpose());
  for (Index x = 0; x < out.size(); ++x) {
    out[x] += factor * negative_binomial::softened(intensity_[x], phi);
  }
}

const double* NegativeBinomialStateLikelihoods::log_odds(Index channel) {
  const bool has_table = !is_filled_.empty();
  auto column = table_.col(has_table ? channel : 0);
  if (!has_table || !is_filled_[static_cast<std::size_t>(channel)]) {
    column.noalias() = states() * basis_.row(channel).transpose();
    const double phi = dispersion_[channel];
    for (double& value : column) value = std::log(value) - std::log1p(phi * value);
    if (has_table) is_filled_[static_cast<std::size_t>(channel)] = true;
  }
  return column.data();
}

void NegativeBinomialStateLikelihoods::log_likelihoods(const Observation& y,
                                                       Eigen::Ref<Vector> out) {
  if (!y.any_seen()) {
    out.setZero();  // exactly: nothing was said about the state
    return;
  }
  out = -total_;
  for (std::size_t j = 0; j < y.exposed().size(); ++j) {
    add_softened(y.exposed()[j], 1, 1, out);
    if (y.exposures()[j] > 0) add_softened(y.exposed()[j], y.exposures()[j], -1, out);
  }
  const bool has_table = !is_filled_.empty();
  for_each_count(y, [&](std::size_t j, double exposure) {
    const Index channel = y.channels()[j];
    columns_.push_back(log_odds(channel));
    counts_.push_back(y.counts()[j]);
    if (!has_table) {  // the next column takes its place
      add_weighted_columns(columns_, counts_, as_span(out));
      columns_.clear();
      counts_.clear();
    }
    if (exposure == 1) return;
    // y log(1 + phi lambda) becomes y log(1 + phi exposure lambda).
    const double phi = dispersion_[channel];
    if (phi == 0) return;
    add_softened(channel, 1, phi * y.counts()[j], out);
    add_softened(channel, exposure, -phi * y.counts()[j], out);
  });
  add_weighted_columns(columns_, counts_, as_span(out));
  columns_.clear();
  counts_.clear();
}

}  // namespace headwater
