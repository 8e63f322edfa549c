#include "headwater/emission/quiet_channels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/negative_binomial.hpp"
#include "headwater/kernels/polynomials.hpp"

namespace headwater {

namespace {

// With fewer channels, today's kernels cost little.
constexpr Index kFewestChannels = 512;
// A polynomial has at most so many coefficients, and at most one for five channels.
constexpr std::size_t kMostCoefficients = 2000;
constexpr Index kChannelsPerCoefficient = 5;
// Channels may be loud if one in so many is as loud, and are if they are twice as loud as that.
constexpr Index kQuietPerLoud = 64;
constexpr double kLoudness = 2;
// Powers of larger sizes might overflow.
constexpr double kLargestSize = 1e30;

}  // namespace

std::unique_ptr<QuietChannels> QuietChannels::of(const PaddedRows& basis,
                                                 const Vector& dispersion) {
  const auto variables = static_cast<std::size_t>(basis.cols());
  if (basis.rows() < kFewestChannels || variables > kMostVariables) return nullptr;
  auto quiet = std::make_unique<QuietChannels>();
  quiet->set_apart_loud(basis, dispersion);
  quiet->set_limits();
  return quiet;
}

// Of the channels that are not loud.
void QuietChannels::measure(const PaddedRows& basis) {
  shares_.resize(basis.rows(), basis.cols());
  for (Index m = 0; m < basis.rows(); ++m) {
    const double* const row = basis.row(m);
    for (Index k = 0; k < basis.cols(); ++k) shares_(m, k) = is_loud(m) ? 0 : row[k];
  }
  column_sums_ = headwater::column_sums(shares_);
  units_ = (column_sums_.array() > 0).select(column_sums_, 1.0);
  for (Index k = 0; k < shares_.cols(); ++k) shares_.col(k) *= 1 / units_[k];
  peaks_ = shares_.rowwise().sum();
}

// By phi sum_k B_mk / c_k, with the column sums of all channels.
void QuietChannels::set_apart_loud(const PaddedRows& basis, const Vector& dispersion) {
  const Index channels = basis.rows();
  is_loud_.assign(static_cast<std::size_t>(channels), false);
  measure(basis);
  const Vector loudness = peaks_.cwiseProduct(dispersion);
  std::vector<double> sorted(loudness.begin(), loudness.end());
  const auto place = sorted.begin() + channels / kQuietPerLoud;
  std::nth_element(sorted.begin(), place, sorted.end(), std::greater<>());
  scales_ = dispersion;
  weights_ = (dispersion.array() > 0).select(dispersion.cwiseInverse(), 0.0);
  for (Index m = 0; m < channels; ++m) {
    if (!(loudness[m] > kLoudness * *place)) continue;
    is_loud_[static_cast<std::size_t>(m)] = true;
    loud_.push_back(m);
    scales_[m] = 0;
    weights_[m] = 0;
  }
  if (!loud_.empty()) measure(basis);
}

// The largest size with, for n nodes and z <= Z = phi peak size of each quiet channel,
//   sum_m phi lambda^2 2 (Z / 4)^n / (n + 2) <= kTolerance, where Z is widened to an interval's,
//   and 2 (n + 1) (Z / 4)^n <= kRelativeTolerance.
void QuietChannels::set_limits() {
  const auto columns = static_cast<std::size_t>(shares_.cols());
  const auto affordable = std::min(
      kMostCoefficients, static_cast<std::size_t>(shares_.rows() / kChannelsPerCoefficient));
  const Vector loudness = peaks_.cwiseProduct(scales_);
  const double loudest = loudness.maxCoeff();
  log_loudness_.resize(loudness.size());
  vector_log(as_span(loudness), as_span(log_loudness_));
  log_loudness_ *= std::numbers::log2e;
  const double widening = QuietSeries::widening();
  Vector powers = loudness.cwiseAbs2().cwiseProduct(weights_);
  for (int n = 1; n <= kMostNodes; ++n) {
    if (num_monomials(columns, n + 1) > affordable) break;
    powers.array() *= widening / 4 * loudness.array();
    const double by_sum = std::pow(kTolerance * (n + 2) / (2 * powers.sum()), 1.0 / (n + 2));
    const double by_each =
        4 * std::pow(kRelativeTolerance / (2 * (n + 1)), 1.0 / n) / (widening * loudest);
    const double by_interval = QuietSeries::kLongestInterval / loudest;
    const double in_sums = std::min({by_each, by_interval, kLargestSize});
    limits_in_sums_.add(n, in_sums);
    limits_.add(n, std::min(by_sum, in_sums));
  }
}

void QuietChannels::Limits::add(int nodes, double limit) {
  if (!(limit > largest)) return;
  most[static_cast<std::size_t>(nodes)] = largest = limit;
  log2_of_most[static_cast<std::size_t>(nodes)] = std::log2(limit);
}

int QuietChannels::Limits::nodes_for(double size) const {
  for (int n = 1; n <= kMostNodes; ++n) {
    if (size <= most[static_cast<std::size_t>(n)]) return n;
  }
  return 0;
}

double QuietChannels::size_of(std::span<const double> x) const {
  double largest = 0;
  for (Index k = 0; k < column_sums_.size(); ++k) {
    largest = std::max(largest, column_sums_[k] * x[static_cast<std::size_t>(k)]);
  }
  return largest;
}

// phi lambda^2 k(z) with k(z) = sum_j a_j (phi lambda)^j: the coefficient of lambda^(j + 2) is
// a_j phi^(j + 1).
std::span<const double> QuietChannels::polynomial(int nodes) const {
  const auto at = static_cast<std::size_t>(nodes);
  std::call_once(made_[at], [&] {
    const auto columns = static_cast<std::size_t>(shares_.cols());
    Matrix weights = Matrix::Zero(shares_.rows(), nodes + 2);
    for (Index m = 0; m < shares_.rows(); ++m) {
      const QuietSeries& of_channel = series(limits_, nodes, m);
      double power = scales_[m];
      for (int j = 0; j < nodes; ++j, power *= scales_[m]) {
        weights(m, j + 2) = of_channel.curve[static_cast<std::size_t>(j)] * power;
      }
    }
    std::vector<double>& out = polynomials_[at];
    out.assign(num_monomials(columns, nodes + 1), 0);
    Reducer::sum(
        stretches_of_all(shares_.rows()), out, [&](const Stretch& s, std::span<double> to) {
          const auto first = static_cast<Index>(s.first);
          const auto size = static_cast<Index>(s.size);
          add_moments(shares_.middleRows(first, size), weights.middleRows(first, size), to);
        });
    multiply_by_multinomials(columns, nodes + 1, out);
  });
  return polynomials_[at];
}

void QuietChannels::sort_by_nodes(const Eigen::Ref<const Matrix>& activations, const Limits& limits,
                                  ByNodes& out) const {
  thread_local Vector sizes;
  sizes.setZero(activations.rows());
  for (Index k = 0; k < activations.cols(); ++k) {
    sizes = sizes.cwiseMax(column_sums_[k] * activations.col(k));
  }
  for (auto& list : out) list.clear();
  for (Index i = 0; i < sizes.size(); ++i) {
    out[static_cast<std::size_t>(limits.nodes_for(sizes[i]))].push_back(i);
  }
}

void QuietChannels::gather(const Eigen::Ref<const Matrix>& activations, std::span<const Index> rows,
                           Matrix& out) const {
  out.resize(static_cast<Index>(rows.size()), activations.cols());
  for (Index k = 0; k < out.cols(); ++k) {
    for (Index i = 0; i < out.rows(); ++i) {
      out(i, k) = units_[k] * activations(rows[static_cast<std::size_t>(i)], k);
    }
  }
}

void QuietChannels::add_rest(const Eigen::Ref<const Matrix>& activations,
                             std::span<double> out) const {
  thread_local ByNodes by_nodes;
  thread_local Matrix points;
  thread_local std::vector<double> values;
  sort_by_nodes(activations, limits_, by_nodes);
  for (int nodes = 0; nodes <= kMostNodes; ++nodes) {
    const std::vector<Index>& rows = by_nodes[static_cast<std::size_t>(nodes)];
    if (rows.empty()) continue;
    gather(activations, rows, points);
    values.assign(rows.size(), 0);
    if (nodes > 0) {
      add_polynomial(points, polynomial(nodes), nodes + 1, values);
    } else {
      add_exact_rest(points, values);
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[static_cast<std::size_t>(rows[i])] += values[i];
  }
}

// At activations in units().
void QuietChannels::add_exact_rest(const Eigen::Ref<const Matrix>& activations,
                                   std::span<double> out) const {
  const auto columns = static_cast<std::size_t>(shares_.cols());
  std::call_once(has_exact_, [&] {
    rows_ = shares_;
    dispersed_sum_.setZero(rows_.cols());
    for (Index m = 0; m < rows_.rows(); ++m) {
      if (scales_[m] > 0) dispersed_sum_ += rows_.row(m).transpose();
    }
  });
  Eigen::Map<Vector>(out.data(), activations.rows()) += activations * dispersed_sum_;
  Reducer::sum(stretches_of_all(rows_.rows()), out, [&](const Stretch& s, std::span<double> to) {
    subtract_softened_logs(activations,
                           {as_span(rows_).subspan(s.first * columns, s.size * columns),
                            as_span(scales_).subspan(s.first, s.size)},
                           as_span(weights_).subspan(s.first, s.size), to);
  });
}

double QuietChannels::rest_at(std::span<const double> x, std::span<double> slopes) const {
  const Index columns = shares_.cols();
  const Eigen::Map<const Vector> at(x.data(), columns);
  Eigen::Map<Vector> to(slopes.data(), columns);
  const int nodes = limits_.nodes_for(size_of(x));
  if (nodes == 0) {
    double rest = 0;
    const Vector in_units = at.cwiseProduct(units_);
    add_exact_rest(in_units.transpose(), {&rest, 1});
    const Vector z = (shares_ * in_units).cwiseProduct(scales_);
    const Vector losses = z.array() / (1 + z.array());
    to += (shares_.transpose() * losses).cwiseProduct(units_);
    return rest;
  }
  thread_local Matrix point;
  thread_local Matrix slope;
  thread_local Matrix parts;
  thread_local Matrix ones;
  point = at.cwiseProduct(units_).transpose();
  slope.resize(1, columns);
  parts.resize(1, nodes + 2);
  ones.setOnes(1, nodes + 2);
  take_parts(point, polynomial(nodes), ones, parts, slope);
  to += slope.transpose().cwiseProduct(units_);
  return parts.sum();
}

}  // namespace headwater
