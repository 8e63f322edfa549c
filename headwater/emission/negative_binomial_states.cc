#include "headwater/emission/negative_binomial_states.hpp"

#include <cmath>

#include "headwater/emission/negative_binomial_blocks.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"

namespace headwater {

std::unique_ptr<StateLikelihoods> NegativeBinomialStateLikelihoods::clone() const {
  return std::make_unique<NegativeBinomialStateLikelihoods>(*this);
}

void NegativeBinomialStateLikelihoods::set_emission(const Emission& emission) {
  const Index channels = emission.num_channels();
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
  log_odds_.clear(num_states(), channels);
}

void NegativeBinomialStateLikelihoods::add_softened(Index channel, double exposure, double factor,
                                                    Eigen::Ref<Vector> out) {
  const double phi = dispersion_[channel];
  intensity_.noalias() = states() * (exposure * basis_.row(channel).transpose());
  for (Index x = 0; x < out.size(); ++x) {
    out[x] += factor * negative_binomial::softened(intensity_[x], phi);
  }
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
  for_each_count(y, [&](std::size_t j, double exposure) {
    const Index channel = y.channels()[j];
    const double phi = dispersion_[channel];
    log_odds_.add(channel, y.counts()[j], as_span(out), [&](auto&& column) {
      column.noalias() = states() * basis_.row(channel).transpose();
      for (double& value : column) value = std::log(value) - std::log1p(phi * value);
    });
    if (exposure == 1 || phi == 0) return;
    // y log(1 + phi lambda) becomes y log(1 + phi exposure lambda).
    add_softened(channel, 1, phi * y.counts()[j], out);
    add_softened(channel, exposure, -phi * y.counts()[j], out);
  });
  log_odds_.add_collected(as_span(out));
}

}  // namespace headwater
