#include "headwater/emission/quiet_series.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace headwater {

namespace {

using Coefficients = QuietSeries::Coefficients;

// Intervals [0, Z] with Z = 4 2^(-i / 4).
constexpr int kStepsPerOctave = 4;
constexpr int kIntervals = 40 * kStepsPerOctave;

double interval_end(int i) {
  return QuietSeries::kLongestInterval * std::exp2(-static_cast<double>(i) / kStepsPerOctave);
}

double curve_at(double z) {
  if (z > 0.02) return (z - std::log1p(z)) / (z * z);
  double sum = 0;
  for (int j = 10; j >= 0; --j) sum = 1.0 / (j + 2) - z * sum;
  return sum;
}

double inverse_at(double z) { return 1 / (1 + z); }

// Of [0, 1].
Coefficients chebyshev_nodes(int nodes) {
  Coefficients at{};
  for (int i = 0; i < nodes; ++i) {
    at[i] = (1 + std::cos(std::numbers::pi * (2 * i + 1) / (2 * nodes))) / 2;
  }
  return at;
}

// The polynomial of degree n - 1 that has these values at the Chebyshev nodes of [0, Z]: by
// Newton's divided differences, multiplied out.
Coefficients interpolate(Coefficients values, int nodes, double end) {
  const Coefficients at = chebyshev_nodes(nodes);
  for (int order = 1; order < nodes; ++order) {
    for (int i = nodes - 1; i >= order; --i) {
      values[i] = (values[i] - values[i - 1]) / (at[i] - at[i - order]);
    }
  }
  Coefficients out{};
  for (int i = nodes - 1; i >= 0; --i) {
    for (int j = nodes - 1; j > 0; --j) out[j] = out[j - 1] - at[i] * out[j];
    out[0] = values[i] - at[i] * out[0];
  }
  double power = 1;
  for (int j = 0; j < nodes; ++j, power *= end) out[j] /= power;
  return out;
}

QuietSeries make_series(int nodes, double end) {
  QuietSeries series{};
  const Coefficients at = chebyshev_nodes(nodes);
  Coefficients curves{};
  Coefficients inverses{};
  for (int i = 0; i < nodes; ++i) {
    series.nodes[i] = end * at[i];
    curves[i] = curve_at(series.nodes[i]);
    inverses[i] = inverse_at(series.nodes[i]);
    Coefficients unit{};
    unit[i] = 1;
    const Coefficients column = interpolate(unit, nodes, end);
    for (int j = 0; j < nodes; ++j) series.transform[j][i] = column[j];
  }
  series.curve = interpolate(curves, nodes, end);
  series.inverse = interpolate(inverses, nodes, end);
  for (int j = 0; j < nodes; ++j) series.bend[j] = series.inverse[j] - series.curve[j];
  return series;
}

}  // namespace

double QuietSeries::widening() { return std::exp2(1.0 / kStepsPerOctave); }

const QuietSeries& QuietSeries::of(int nodes, double log2_z) {
  static const auto all = [] {
    std::vector<std::array<QuietSeries, kIntervals>> of(kMostNodes + 1);
    for (int n = 1; n <= kMostNodes; ++n) {
      for (int i = 0; i < kIntervals; ++i) of[n][i] = make_series(n, interval_end(i));
    }
    return of;
  }();
  static const double longest = std::log2(kLongestInterval);
  const double steps = kStepsPerOctave * (longest - log2_z);
  const auto interval = static_cast<std::size_t>(std::clamp(steps, 0.0, kIntervals - 1.0));
  return all[static_cast<std::size_t>(nodes)][interval];
}

}  // namespace headwater
