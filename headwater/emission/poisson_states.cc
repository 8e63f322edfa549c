#include "headwater/emission/poisson_states.hpp"

#include "headwater/emission.hpp"
#include "headwater/kernels/elementary.hpp"

namespace headwater {

std::unique_ptr<StateLikelihoods> PoissonStateLikelihoods::clone() const {
  return std::make_unique<PoissonStateLikelihoods>(*this);
}

void PoissonStateLikelihoods::set_emission(const Emission& emission) {
  basis_ = emission.basis();
  total_intensity_.noalias() = states() * emission.column_sums();
  logarithms_.clear(num_states(), basis_.rows());
}

void PoissonStateLikelihoods::log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) {
  if (!y.any_seen()) {
    out.setZero();  // exactly: nothing was said about the state
    return;
  }
  out = -total_intensity_;
  for (std::size_t j = 0; j < y.exposed().size(); ++j) {
    const double unexposed = 1 - y.exposures()[j];
    out.noalias() += states() * (unexposed * basis_.row(y.exposed()[j]).transpose());
  }
  cut_into_stretches(y.channels(), stretches_);
  Reducer::shared_sum(stretches_, as_span(out), [&](const Stretch& stretch, std::span<double> to) {
    for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
      const Index channel = y.channels()[j];
      logarithms_.add(channel, y.counts()[j], to, [&](auto&& column) {
        column.noalias() = states() * basis_.row(channel).transpose();
        vector_log(as_span(column), as_span(column));
      });
    }
    logarithms_.add_collected(to);
  });
}

}  // namespace headwater
