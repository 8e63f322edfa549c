#include "headwater/emission/hurdle_states.hpp"

#include "headwater/emission.hpp"
#include "headwater/kernels/elementary.hpp"

namespace headwater {

std::unique_ptr<StateLikelihoods> HurdleStateLikelihoods::clone() const {
  return std::make_unique<HurdleStateLikelihoods>(*this);
}

void HurdleStateLikelihoods::set_emission(const Emission& emission) {
  basis_ = emission.basis();
  total_intensity_.noalias() = states() * emission.column_sums();
  terms_.clear(num_states(), basis_.rows());
}

void HurdleStateLikelihoods::write_terms(Index channel, double exposure, Eigen::Ref<Vector> out) {
  silences_.noalias() = -exposure * (states() * basis_.row(channel).transpose());
  vector_one_minus_exp(as_span(silences_), as_span(out));
  vector_log(as_span(out), as_span(out));
  out -= silences_;
}

void HurdleStateLikelihoods::log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) {
  if (!y.any_seen()) {
    out.setZero();  // exactly: nothing was said about the state
    return;
  }
  out = -total_intensity_;
  for (std::size_t j = 0; j < y.exposed().size(); ++j) {
    const double unexposed = 1 - y.exposures()[j];
    out.noalias() += states() * (unexposed * basis_.row(y.exposed()[j]).transpose());
  }
  exposures_.clear();
  for_each_count(y, [&](std::size_t, double exposure) { exposures_.push_back(exposure); });
  cut_into_stretches(y.channels(), stretches_);
  Reducer::shared_sum(stretches_, as_span(out), [&](const Stretch& stretch, std::span<double> to) {
    for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
      const Index channel = y.channels()[j];
      if (exposures_[j] == 1) {
        terms_.add(channel, 1, to, [&](auto&& column) { write_terms(channel, 1, column); });
        continue;
      }
      own_terms_.resize(num_states());
      write_terms(channel, exposures_[j], own_terms_);
      Eigen::Map<Vector>(to.data(), num_states()) += own_terms_;
    }
    terms_.add_collected(to);
  });
}

}  // namespace headwater
