#include "headwater/emission/negative_binomial_states.hpp"

#include "headwater/emission/negative_binomial_blocks.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/negative_binomial.hpp"

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
  weights_ = (dispersion_.array() > 0).select(dispersion_.cwiseInverse(), 0.0);
  rows_ = basis_;
  total_.resize(num_states());
  has_total_ = false;
  log_odds_.clear(num_states(), channels);
  stretches_ = stretches_of_all(channels);
}

// When first asked for: a basis and a law that are set one after the other cost it once.
void NegativeBinomialStateLikelihoods::sum_up() {
  if (has_total_) return;
  has_total_ = true;
  total_.setZero();
  const auto columns = static_cast<std::size_t>(basis_.cols());
  Reducer::shared_sum(
      stretches_, as_span(total_), [&](const Stretch& stretch, std::span<double> to) {
        const auto part = [&](const auto& all, std::size_t width) {
          return as_span(all).subspan(stretch.first * width, stretch.size * width);
        };
        subtract_softened_logs(states(), {part(rows_, columns), part(dispersion_, 1)},
                               part(weights_, 1), to);
      });
  total_ = -total_;
  for (Index m = 0; m < dispersion_.size(); ++m) {
    if (dispersion_[m] == 0) add_softened(m, 1, 1, total_);
  }
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
  sum_up();
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
      column.array() /= 1 + phi * column.array();
      vector_log(as_span(column), as_span(column));
    });
    if (exposure == 1 || phi == 0) return;
    // y log(1 + phi lambda) becomes y log(1 + phi exposure lambda).
    add_softened(channel, 1, phi * y.counts()[j], out);
    add_softened(channel, exposure, -phi * y.counts()[j], out);
  });
  log_odds_.add_collected(as_span(out));
}

}  // namespace headwater
