#include "headwater/models/guides/long_series.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

constexpr double kNegligible = 1e-15;  // of a sum

}  // namespace

LongSeries::LongSeries(const std::vector<double>& ratios) : ratios_(ratios) {
  log_products_.push_back(0);
  for (const double ratio : ratios) {
    inverse_ratios_.push_back(1 / ratio);
    log_products_.push_back(log_products_.back() + std::log(ratio));
  }
}

LongSeries::Sum LongSeries::sum_up(double mean) const {
  // The ratios fall, so the terms rise up to the first ratio below 1 / mean.
  const auto found = std::partition_point(ratios_.begin(), ratios_.end(),
                                          [&](double ratio) { return mean * ratio >= 1; });
  const Index mode = found - ratios_.begin();
  double sum = 1;
  double term = 1;
  for (auto h = static_cast<std::size_t>(mode); h < ratios_.size(); ++h) {
    term *= mean * ratios_[h];
    sum += term;
    if (term < kNegligible) break;
  }
  term = 1;
  const double inverse = 1 / mean;
  for (Index h = mode; h > 0; --h) {
    term *= inverse * inverse_ratios_[h - 1];
    sum += term;
    if (term < kNegligible) break;
  }
  return {mode, sum};
}

double LongSeries::log_sum(double mean) const {
  if (!(mean > 0)) return 0;
  const Sum sum = sum_up(mean);
  return static_cast<double>(sum.mode) * std::log(mean) + log_products_[sum.mode] +
         std::log(sum.value);
}

// From the mode outward, upward and downward in turn.
Index LongSeries::draw(double uniform, double mean) const {
  if (!(mean > 0)) return 0;
  const Sum sum = sum_up(mean);
  double left = uniform * sum.value - 1;
  Index up = sum.mode;
  Index down = sum.mode;
  double up_term = 1;
  double down_term = 1;
  const auto last = static_cast<Index>(ratios_.size());
  const double inverse = 1 / mean;
  while (left > 0) {
    const bool has_up = up < last && up_term > 0;
    const bool has_down = down > 0 && down_term > 0;
    if (!has_up && !has_down) return sum.mode;  // nothing but rounding is left
    if (has_up) {
      up_term *= mean * ratios_[up++];
      left -= up_term;
      if (left <= 0) return up;
    }
    if (has_down) {
      --down;
      down_term *= inverse * inverse_ratios_[down];
      left -= down_term;
      if (left <= 0) return down;
    }
  }
  return sum.mode;
}

}  // namespace headwater
