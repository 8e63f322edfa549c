#include "headwater/emission/poisson_states.hpp"

#include "headwater/emission.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/weighted_columns.hpp"

namespace headwater {

namespace {

// 1 GiB of logarithms; beyond that they are computed anew for each observation.
constexpr Index kLargestTable = Index{1} << 27;

}  // namespace

std::unique_ptr<StateLikelihoods> PoissonStateLikelihoods::clone() const {
  return std::make_unique<PoissonStateLikelihoods>(*this);
}

void PoissonStateLikelihoods::set_emission(const Emission& emission) {
  const Matrix& basis = emission.basis();
  if (basis.rows() != basis_.rows()) {
    const bool fits = basis.rows() <= kLargestTable / num_states();
    log_table_.resize(num_states(), fits ? basis.rows() : 1);
    is_filled_.resize(fits ? static_cast<std::size_t>(basis.rows()) : 0);
  }
  basis_ = basis;
  total_intensity_.noalias() = states() * emission.column_sums();
  is_filled_.assign(is_filled_.size(), false);
}

const double* PoissonStateLikelihoods::log_intensities(Index channel) {
  const bool has_table = !is_filled_.empty();
  auto column = log_table_.col(has_table ? channel : 0);
  if (!has_table || !is_filled_[static_cast<std::size_t>(channel)]) {
    column.noalias() = states() * basis_.row(channel).transpose();
    vector_log(as_span(column), as_span(column));
    if (has_table) is_filled_[static_cast<std::size_t>(channel)] = true;
  }
  return column.data();
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
  const bool has_table = !is_filled_.empty();
  cut_into_stretches(y.channels(), stretches_);
  Reducer::sum(stretches_, as_span(out), [&](const Stretch& stretch, std::span<double> to) {
    Eigen::Map<Vector> sums(to.data(), static_cast<Index>(to.size()));
    for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
      columns_.push_back(log_intensities(y.channels()[j]));
      counts_.push_back(y.counts()[j]);
      if (!has_table) add_collected(sums);  // the next column takes its place
    }
    add_collected(sums);
  });
}

void PoissonStateLikelihoods::add_collected(Eigen::Ref<Vector> out) {
  add_weighted_columns(columns_, counts_, as_span(out));
  columns_.clear();
  counts_.clear();
}

}  // namespace headwater
