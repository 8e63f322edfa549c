#include "headwater/emission/quiet_channels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "headwater/kernels/negative_binomial.hpp"
#include "headwater/kernels/polynomials.hpp"

namespace headwater {

namespace {

using Series = QuietChannels::Series;

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

// Intervals [0, Z] with Z = 4 2^(-i / 4).
constexpr double kLongestInterval = 4;
constexpr int kStepsPerOctave = 4;
constexpr int kIntervals = 40 * kStepsPerOctave;
const double kWidening = std::exp2(1.0 / kStepsPerOctave);

double interval_end(int i) {
  return kLongestInterval * std::exp2(-static_cast<double>(i) / kStepsPerOctave);
}

// The shortest interval that has z in it.
std::size_t interval_of(double z) {
  if (!(z > 0)) return kIntervals - 1;
  const double steps = std::floor(-kStepsPerOctave * std::log2(z / kLongestInterval));
  return static_cast<std::size_t>(std::clamp(steps, 0.0, kIntervals - 1.0));
}

double curve_at(double z) {
  if (z > 0.02) return (z - std::log1p(z)) / (z * z);
  double sum = 0;
  for (int j = 10; j >= 0; --j) sum = 1.0 / (j + 2) - z * sum;
  return sum;
}

double inverse_at(double z) { return 1 / (1 + z); }

// Of [0, 1].
const Series& chebyshev_nodes(int nodes) {
  static const auto all = [] {
    std::array<Series, QuietChannels::kMostNodes + 1> of{};
    for (int n = 1; n <= QuietChannels::kMostNodes; ++n) {
      for (int i = 0; i < n; ++i) {
        of[n][i] = (1 + std::cos(std::numbers::pi * (2 * i + 1) / (2 * n))) / 2;
      }
    }
    return of;
  }();
  return all[nodes];
}

// The polynomial of degree n - 1 that is f at the Chebyshev nodes of [0, Z]: by Newton's divided
// differences, multiplied out.
template <class Function>
Series interpolate(const Function& f, int nodes, double end) {
  const Series& at = chebyshev_nodes(nodes);
  Series differences{};
  for (int i = 0; i < nodes; ++i) differences[i] = f(end * at[i]);
  for (int order = 1; order < nodes; ++order) {
    for (int i = nodes - 1; i >= order; --i) {
      differences[i] = (differences[i] - differences[i - 1]) / (at[i] - at[i - order]);
    }
  }
  Series out{};
  for (int i = nodes - 1; i >= 0; --i) {
    for (int j = nodes - 1; j > 0; --j) out[j] = out[j - 1] - at[i] * out[j];
    out[0] = differences[i] - at[i] * out[0];
  }
  double power = 1;
  for (int j = 0; j < nodes; ++j, power *= end) out[j] /= power;
  return out;
}

struct SeriesTables {
  using Table = std::array<std::array<Series, kIntervals>, QuietChannels::kMostNodes + 1>;

  SeriesTables() {
    for (int nodes = 1; nodes <= QuietChannels::kMostNodes; ++nodes) {
      for (int i = 0; i < kIntervals; ++i) {
        curves[nodes][i] = interpolate(curve_at, nodes, interval_end(i));
        inverses[nodes][i] = interpolate(inverse_at, nodes, interval_end(i));
      }
    }
  }
  Table curves;
  Table inverses;
};

const SeriesTables& tables() {
  static const SeriesTables all;
  return all;
}

}  // namespace

std::unique_ptr<QuietChannels> QuietChannels::of(const PaddedRows& basis,
                                                 const Vector& dispersion) {
  const auto variables = static_cast<std::size_t>(basis.cols());
  if (basis.rows() < kFewestChannels || variables > kMostVariables) return nullptr;
  auto quiet = std::make_unique<QuietChannels>();
  quiet->rows_.resize(basis.rows(), basis.cols());
  for (Index m = 0; m < basis.rows(); ++m) {
    quiet->rows_.row(m) = Eigen::Map<const Vector>(basis.row(m), basis.cols()).transpose();
  }
  quiet->set_apart_loud(dispersion);
  quiet->set_limits();
  return quiet;
}

// By phi sum_k B_mk / c_k, with the column sums of all channels.
void QuietChannels::set_apart_loud(const Vector& dispersion) {
  const Index channels = rows_.rows();
  const auto measure = [&] {
    units_ = (column_sums_.array() > 0).select(column_sums_, 1.0);
    shares_ = rows_ * units_.cwiseInverse().asDiagonal();
    peaks_ = shares_.rowwise().sum();
  };
  column_sums_ = headwater::column_sums(rows_);
  measure();
  const Vector loudness = peaks_.cwiseProduct(dispersion);
  std::vector<double> sorted(loudness.begin(), loudness.end());
  const auto place = sorted.begin() + channels / kQuietPerLoud;
  std::nth_element(sorted.begin(), place, sorted.end(), std::greater<>());
  scales_ = dispersion;
  weights_ = (dispersion.array() > 0).select(dispersion.cwiseInverse(), 0.0);
  is_loud_.assign(static_cast<std::size_t>(channels), false);
  for (Index m = 0; m < channels; ++m) {
    if (!(loudness[m] > kLoudness * *place)) continue;
    is_loud_[static_cast<std::size_t>(m)] = true;
    loud_.push_back(m);
    scales_[m] = 0;
    weights_[m] = 0;
    rows_.row(m).setZero();
  }
  if (loud_.empty()) return;
  column_sums_ = headwater::column_sums(rows_);
  measure();
}

// The largest size with, for n nodes and z <= Z = phi peak size of each quiet channel,
//   sum_m phi lambda^2 2 (Z / 4)^n / (n + 2) <= kTolerance, where Z is widened to an interval's,
//   and 2 (n + 1) (Z / 4)^n <= kRelativeTolerance.
void QuietChannels::set_limits() {
  most_.fill(0);
  const auto columns = static_cast<std::size_t>(rows_.cols());
  const auto affordable =
      std::min(kMostCoefficients, static_cast<std::size_t>(rows_.rows() / kChannelsPerCoefficient));
  const Vector loudness = peaks_.cwiseProduct(scales_);
  const double loudest = loudness.maxCoeff();
  for (int n = 1; n <= kMostNodes; ++n) {
    if (num_monomials(columns, n + 1) > affordable) break;
    double sum = 0;
    for (Index m = 0; m < loudness.size(); ++m) {
      double power = loudness[m] * loudness[m] * weights_[m];
      for (int i = 0; i < n; ++i) power *= kWidening * loudness[m] / 4;
      sum += power;
    }
    const double by_sum = std::pow(kTolerance * (n + 2) / (2 * sum), 1.0 / (n + 2));
    const double by_each =
        4 * std::pow(kRelativeTolerance / (2 * (n + 1)), 1.0 / n) / (kWidening * loudest);
    const double by_interval = kLongestInterval / loudest;
    const double limit = std::min({by_sum, by_each, by_interval, kLargestSize});
    if (!(limit > largest_)) continue;
    most_[static_cast<std::size_t>(n)] = largest_ = limit;
  }
}

double QuietChannels::size_of(std::span<const double> x) const {
  double largest = 0;
  for (Index k = 0; k < column_sums_.size(); ++k) {
    largest = std::max(largest, column_sums_[k] * x[static_cast<std::size_t>(k)]);
  }
  return largest;
}

int QuietChannels::nodes_for(double size) const {
  for (int n = 1; n <= kMostNodes; ++n) {
    if (size <= most(n)) return n;
  }
  return 0;
}

std::size_t QuietChannels::interval(int nodes, Index channel) const {
  return interval_of(scales_[channel] * peaks_[channel] * most(nodes));
}

const Series& QuietChannels::curve(int nodes, Index channel) const {
  return tables().curves[static_cast<std::size_t>(nodes)][interval(nodes, channel)];
}

const Series& QuietChannels::inverse(int nodes, Index channel) const {
  return tables().inverses[static_cast<std::size_t>(nodes)][interval(nodes, channel)];
}

Series QuietChannels::information(int nodes, Index channel, double limit) const {
  const double first = 1 + scales_[channel];
  return interpolate([=](double z) { return 1 / (first + z * (2 + z / limit)); }, nodes,
                     interval_end(static_cast<int>(interval(nodes, channel))));
}

// phi lambda^2 k(z) with k(z) = sum_j a_j (phi lambda)^j: the coefficient of lambda^(j + 2) is
// a_j phi^(j + 1).
std::span<const double> QuietChannels::polynomial(int nodes) const {
  const auto at = static_cast<std::size_t>(nodes);
  std::call_once(made_[at], [&] {
    const auto columns = static_cast<std::size_t>(rows_.cols());
    Matrix weights = Matrix::Zero(rows_.rows(), nodes + 2);
    for (Index m = 0; m < rows_.rows(); ++m) {
      const Series& series = curve(nodes, m);
      double power = scales_[m];
      for (int j = 0; j < nodes; ++j, power *= scales_[m]) {
        weights(m, j + 2) = series[static_cast<std::size_t>(j)] * power;
      }
    }
    std::vector<double>& out = polynomials_[at];
    out.assign(num_monomials(columns, nodes + 1), 0);
    Reducer::sum(stretches_of_all(rows_.rows()), out, [&](const Stretch& s, std::span<double> to) {
      const auto first = static_cast<Index>(s.first);
      const auto size = static_cast<Index>(s.size);
      add_moments(shares_.middleRows(first, size), weights.middleRows(first, size), to);
    });
    multiply_by_multinomials(columns, nodes + 1, out);
  });
  return polynomials_[at];
}

void QuietChannels::sort_by_nodes(const Eigen::Ref<const Matrix>& activations, ByNodes& out) const {
  thread_local Vector sizes;
  sizes.setZero(activations.rows());
  for (Index k = 0; k < activations.cols(); ++k) {
    sizes = sizes.cwiseMax(column_sums_[k] * activations.col(k));
  }
  for (auto& list : out) list.clear();
  for (Index i = 0; i < sizes.size(); ++i) {
    out[static_cast<std::size_t>(nodes_for(sizes[i]))].push_back(i);
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
  sort_by_nodes(activations, by_nodes);
  for (int nodes = 0; nodes <= kMostNodes; ++nodes) {
    const std::vector<Index>& rows = by_nodes[static_cast<std::size_t>(nodes)];
    if (rows.empty()) continue;
    gather(activations, rows, points);
    values.assign(rows.size(), 0);
    if (nodes > 0) {
      add_polynomial(points, polynomial(nodes), nodes + 1, values);
    } else {
      add_exact_rest(points * units_.cwiseInverse().asDiagonal(), values);
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[static_cast<std::size_t>(rows[i])] += values[i];
  }
}

void QuietChannels::add_exact_rest(const Eigen::Ref<const Matrix>& activations,
                                   std::span<double> out) const {
  const auto columns = static_cast<std::size_t>(rows_.cols());
  // Channels of dispersion 0 have no rest.
  Vector total = Vector::Zero(rows_.cols());
  for (Index m = 0; m < rows_.rows(); ++m) {
    if (scales_[m] > 0) total += rows_.row(m).transpose();
  }
  Eigen::Map<Vector>(out.data(), activations.rows()) += activations * total;
  Reducer::sum(stretches_of_all(rows_.rows()), out, [&](const Stretch& s, std::span<double> to) {
    subtract_softened_logs(activations,
                           {as_span(rows_).subspan(s.first * columns, s.size * columns),
                            as_span(scales_).subspan(s.first, s.size)},
                           as_span(weights_).subspan(s.first, s.size), to);
  });
}

double QuietChannels::rest_at(std::span<const double> x, std::span<double> slopes) const {
  const Index columns = rows_.cols();
  const Eigen::Map<const Vector> at(x.data(), columns);
  Eigen::Map<Vector> to(slopes.data(), columns);
  double rest = 0;
  const int nodes = nodes_for(size_of(x));
  if (nodes == 0) {
    add_exact_rest(at.transpose(), {&rest, 1});
    for (Index m = 0; m < rows_.rows(); ++m) {
      const double z = scales_[m] * rows_.row(m).dot(at);
      to += z / (1 + z) * rows_.row(m).transpose();
    }
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
