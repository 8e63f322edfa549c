#include "headwater/session/mixed_tails.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/emission/negative_binomial_terms.hpp"

namespace headwater {

namespace {

// The grid of the law of the mean, in standard deviations of its logarithm. The sum over a grid is
// as good as the integral if the integrand is smooth at this scale.
constexpr double kGridEnd = 7.5;
constexpr double kGammaEnd = 20;  // times the squared coefficient of variation
constexpr int kGridSteps = 120;

// Counts and means up to here are summed up from 0 on: no exp(-mean) is rounded to 0.
constexpr double kFewCounts = 500;
constexpr double kLargestMean = 600;
// A smaller upper tail is not told from all less (below + at), of which rounding errors would show.
constexpr double kSafeTail = 1e-5;

// From tails.at, if that is not rounded to 0.
double density_by_variance(const VarianceFunction& variance, double y, double mean,
                           const CountTails& tails) {
  if (tails.at > 0) return tails.at;
  const double spread = variance.variance_of_count(mean);
  if (!(spread > 0)) return 0;
  const double apart = y - mean;
  return std::exp(-apart * apart / (2 * spread)) / std::sqrt(spread);
}

// One law after the other.
CountTails tails_one_by_one(const VarianceFunction& variance, double y,
                            const Eigen::Ref<const Vector>& means,
                            const Eigen::Ref<const Vector>& weights, Vector* densities) {
  CountTails tails{0, 0, 0};
  for (Index i = 0; i < means.size(); ++i) {
    const CountTails own = tails_by_variance(variance, y, means[i]);
    if (weights[i] > 0) tails.add(weights[i], own);
    if (densities != nullptr) (*densities)[i] = density_by_variance(variance, y, means[i], own);
  }
  return tails;
}

bool has_few_counts(const VarianceFunction& variance, double y,
                    const Eigen::Ref<const Vector>& means) {
  return !variance.has_hurdle() && variance.constant == 0 && variance.linear == 1 &&
         y == std::floor(y) && y <= kFewCounts && means.maxCoeff() <= kLargestMean &&
         means.minCoeff() >= 0;
}

}  // namespace

// Few counts: p(0), p(1), ..., p(y) of all laws at a time, with
// p(k + 1) / p(k) = mean / (1 + phi mean) (1 + k phi) / (k + 1).
CountTails mixed_tails(const VarianceFunction& variance, double y,
                       const Eigen::Ref<const Vector>& means,
                       const Eigen::Ref<const Vector>& weights, Vector* densities) {
  if (densities != nullptr) densities->resize(means.size());
  if (!has_few_counts(variance, y, means)) {
    return tails_one_by_one(variance, y, means, weights, densities);
  }
  const double phi =
      variance.quadratic < negative_binomial::kLeastDispersion ? 0 : variance.quadratic;
  Eigen::ArrayXd at = means;
  if (phi > 0)
    at = at.unaryExpr([&](double mean) { return negative_binomial::softened(mean, phi); });
  at = (-at).exp();
  const Eigen::ArrayXd factor = means.array() / (1 + phi * means.array());
  Eigen::ArrayXd below = Eigen::ArrayXd::Zero(means.size());
  for (double k = 0; k < y; ++k) {
    below += at;
    at *= factor * ((1 + k * phi) / (k + 1));
  }
  const auto share = weights.array();
  CountTails tails{(share * below).sum(), (share * at).sum(), 0};
  tails.above = weights.sum() - tails.below - tails.at;
  if (tails.above < kSafeTail) {
    tails.above = tails_one_by_one(variance, y, means, weights, nullptr).above;
  }
  if (densities != nullptr) {
    for (Index i = 0; i < means.size(); ++i) {
      (*densities)[i] = density_by_variance(variance, y, means[i], {0, at[i], 0});
    }
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
  Eigen::Matrix<double, kGridSteps + 1, 1> means;
  Eigen::Matrix<double, kGridSteps + 1, 1> weights;
  for (int i = 0; i <= kGridSteps; ++i) {
    const double u = first + (last - first) * i / kGridSteps;
    weights[i] = std::exp(log_weight(u));
    means[i] = mean * std::exp(u);
  }
  return mixed_tails(variance, y, means, weights / weights.sum());
}

}  // namespace headwater
