#include "headwater/session/mixed_tails.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

// The grid of the law of the mean, in standard deviations of its logarithm. The sum over a grid is
// as good as the integral if the integrand is smooth at this scale.
constexpr double kGridEnd = 7.5;
constexpr double kGammaEnd = 20;  // times the squared coefficient of variation
constexpr int kGridSteps = 120;

}  // namespace

CountTails mixed_tails(const VarianceFunction& variance, double y, const Vector& means,
                       const Vector& weights) {
  CountTails tails{0, 0, 0};
  for (Index i = 0; i < means.size(); ++i) {
    if (weights[i] > 0) tails.add(weights[i], tails_by_variance(variance, y, means[i]));
  }
  return tails;
}

CountTails mixed_tails(const VarianceFunction& variance, double y, double mean, double mixing,
                       bool is_log_normal) {
  if (!(mean > 0) || !(mixing > 0)) return tails_by_variance(variance, y, mean);
  const double share = mixing / (mean * mean);
  if (!is_log_normal && variance.quadratic == 0) {
    VarianceFunction whole = variance;
    whole.quadratic = share;
    return tails_by_variance(whole, y, mean);
  }
  // u is the logarithm of the mean over its expectation; log_weight its log-density.
  const double spread = is_log_normal ? std::sqrt(std::log1p(share)) : std::sqrt(share);
  const double first = is_log_normal ? -spread * (kGridEnd + spread / 2)
                                     : -std::max(kGridEnd * spread, kGammaEnd * share);
  const double last = spread * kGridEnd;
  const auto log_weight = [&](double u) {
    const double z = u / spread + spread / 2;
    return is_log_normal ? -z * z / 2 : (u - std::expm1(u)) / share;
  };
  CountTails tails{0, 0, 0};
  double sum = 0;
  for (int i = 0; i <= kGridSteps; ++i) {
    const double u = first + (last - first) * i / kGridSteps;
    const double weight = std::exp(log_weight(u));
    sum += weight;
    tails.add(weight, tails_by_variance(variance, y, mean * std::exp(u)));
  }
  return CountTails{0, 0, 0}.add(1 / sum, tails);
}

double density_by_variance(const VarianceFunction& variance, double y, double mean,
                           const CountTails& tails) {
  if (tails.at > 0) return tails.at;
  const double spread = variance.variance_of_count(mean);
  if (!(spread > 0)) return 0;
  const double apart = y - mean;
  return std::exp(-apart * apart / (2 * spread)) / std::sqrt(spread);
}

}  // namespace headwater
