#include "headwater/models/observation.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/special.hpp"
#include "headwater/kernels/weighted_columns.hpp"

namespace headwater {

namespace {

// 1 GiB of logarithms; beyond that they are computed anew for each observation.
constexpr Index kLargestTable = Index{1} << 27;

}  // namespace

void StoredObservation::remember(Observation y) {
  const auto copy = [](std::span<const double> from, Vector& to) {
    to = Eigen::Map<const Vector>(from.data(), static_cast<Index>(from.size()));
  };
  copy({y.data(), y.size()}, counts_);
  copy(y.exposures(), exposures_);
}

double log_base_measure(Observation y) {
  double sum = 0;
  const auto size = static_cast<Index>(y.size());
  for (Index m = 0; m < size; ++m) {
    if (y[m] > 0) sum -= log_factorial(y[m]);
  }
  if (y.exposures().empty()) return sum;
  for (Index m = 0; m < size; ++m) {
    if (y[m] > 0) sum += y[m] * std::log(y.exposure(m));
  }
  return sum;
}

void SeenChannels::look_at(Observation y, const Matrix& basis, const Vector& column_sums) {
  counts_.clear();
  rows_.clear();
  any_ = false;
  total_ = column_sums;
  for (Index m = 0; m < basis.rows(); ++m) {
    const double exposure = y.exposure(m);
    if (exposure != 1) total_ -= (1 - exposure) * basis.row(m).transpose();
    if (exposure == 0) continue;
    any_ = true;
    if (!(y[m] > 0)) continue;
    counts_.push_back(y[m]);
    for (Index k = 0; k < basis.cols(); ++k) rows_.push_back(basis(m, k));
  }
  count_runs_.set(counts_);
}

void log_likelihoods(const Eigen::Ref<const Matrix>& activations, const SeenChannels& seen,
                     std::span<double> out) {
  if (seen.any()) {
    poisson_log_likelihoods(activations, seen.rows(), seen.count_runs(), as_span(seen.total()),
                            out);
  } else {
    std::ranges::fill(out, 0);  // exactly: nothing was said about the activations
  }
}

StateLikelihoods::StateLikelihoods(Matrix states) : states_(std::move(states)) {}

void StateLikelihoods::set_basis(const Matrix& basis) {
  if (basis.rows() != basis_.rows()) {
    const bool fits = basis.rows() <= kLargestTable / num_states();
    log_table_.resize(num_states(), fits ? basis.rows() : 1);
    is_row_filled_.resize(fits ? static_cast<std::size_t>(basis.rows()) : 0);
  }
  basis_ = basis;
  total_intensity_.noalias() = states_ * basis_.colwise().sum().transpose();
  is_row_filled_.assign(is_row_filled_.size(), false);
}

const double* StateLikelihoods::log_intensities(Index channel) {
  const bool has_table = !is_row_filled_.empty();
  auto row = log_table_.col(has_table ? channel : 0);
  if (!has_table || !is_row_filled_[channel]) {
    row.noalias() = states_ * basis_.row(channel).transpose();
    for (double& value : row) value = std::log(value);
    if (has_table) is_row_filled_[channel] = true;
  }
  return row.data();
}

void StateLikelihoods::log_likelihoods(Observation y, Eigen::Ref<Vector> out) {
  out = -total_intensity_;
  Index seen = 0;
  for (Index m = 0; m < num_channels(); ++m) {
    const double exposure = y.exposure(m);
    if (exposure != 1) out.noalias() += states_ * ((1 - exposure) * basis_.row(m).transpose());
    if (exposure == 0) continue;
    ++seen;
    if (y[m] == 0) continue;
    rows_.push_back(log_intensities(m));
    counts_.push_back(y[m]);
    if (is_row_filled_.empty()) add_collected_rows(out);  // the next row takes its place
  }
  add_collected_rows(out);
  if (seen == 0) out.setZero();  // exactly: nothing was said about the state
}

void StateLikelihoods::add_collected_rows(Eigen::Ref<Vector> out) {
  add_weighted_columns(rows_, counts_, as_span(out));
  rows_.clear();
  counts_.clear();
}

}  // namespace headwater
