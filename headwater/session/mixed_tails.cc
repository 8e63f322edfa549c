#include "headwater/session/mixed_tails.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/core/special.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/tail_sums.hpp"

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

// Whether WholeCounts can stand for one law after the other.
bool are_whole_counts(const VarianceFunction& variance, double y,
                      const Eigen::Ref<const Vector>& means) {
  return !variance.has_hurdle() && variance.constant == 0 && variance.linear == 1 &&
         y == std::floor(y) && y + means.maxCoeff() <= kLargeSum && means.minCoeff() >= 0;
}

// Room for so many numbers, until the next call on this thread.
double* room_for(Index size) {
  thread_local std::vector<double> room;
  if (std::ssize(room) < size) room.resize(static_cast<std::size_t>(size));
  return room.data();
}

// All laws at a time. Few counts are summed up from p(0) on. Of many, each law's smaller tail is
// summed up from p(y) on.
class WholeCounts {
 public:
  // One at a time on a thread.
  WholeCounts(double y, const Eigen::Ref<const Vector>& means, double dispersion)
      : y_(y),
        phi_(dispersion < negative_binomial::kLeastDispersion ? 0 : dispersion),
        means_(means),
        factors_(room_for(4 * means.size()), means.size()),
        at_(factors_.data() + means.size(), means.size()),
        below_(at_.data() + means.size(), means.size()),
        above_(below_.data() + means.size(), means.size()) {
    factors_ = means.array() / (1 + phi_ * means.array());
    below_.setZero();
    if (phi_ > 0) {
      for (Index i = 0; i < means.size(); ++i) {
        at_[i] = -negative_binomial::softened(means[i], phi_);
      }
    } else {
      at_ = -means;
    }
    is_few_ = y == 0 || (y <= kFewCounts && means.maxCoeff() <= kLargestMean);
    if (!is_few_) {
      const double common = negative_binomial::rising_logs(y, phi_) - log_factorial(y);
      at_.array() += common + y * factors_.array().log();
    }
    vector_exp(as_span(at_), as_span(at_));
    if (is_few_) climb_from_zero(y, phi_, as_span(factors_), as_span(at_), as_span(below_));
  }

  const Eigen::Map<Vector>& at() const { return at_; }

  CountTails mixed(const Eigen::Ref<const Vector>& weights) {
    CountTails tails{weights.dot(below_), weights.dot(at_), 0};
    tails.above = weights.sum() - tails.below - tails.at;
    if (is_few_ && tails.above >= kSafeTail) return tails;
    find_tails();
    tails.below = weights.dot(below_);
    tails.above = weights.dot(above_);
    return tails;
  }

 private:
  // P(Y > y) of each law, and P(Y < y) if that is not known yet.
  void find_tails() {
    if (y_ == 0) {
      above_ = means_.unaryExpr(
          [&](double mean) { return -std::expm1(-negative_binomial::softened(mean, phi_)); });
      return;
    }
    const Eigen::Array<bool, Eigen::Dynamic, 1> is_beyond = means_.array() > y_;  // the mean
    const Vector of_beyond = is_beyond.select(at_.array(), 0);
    const Vector of_others = at_ - of_beyond;
    sum_above(y_, phi_, as_span(factors_), as_span(of_others), as_span(above_));
    if (!is_few_) {
      sum_below(y_, phi_, as_span(factors_), as_span(of_beyond), as_span(below_));
      below_ = is_beyond.select(below_.array(), (1 - at_.array() - above_.array()).max(0));
    }
    above_ = is_beyond.select((1 - at_.array() - below_.array()).max(0), above_.array());
  }

  double y_;
  double phi_;
  const Eigen::Ref<const Vector>& means_;
  Eigen::Map<Vector> factors_;
  Eigen::Map<Vector> at_;     // p(y)
  Eigen::Map<Vector> below_;  // P(Y < y)
  Eigen::Map<Vector> above_;  // P(Y > y), if it is asked for
  bool is_few_;
};

}  // namespace

CountTails mixed_tails(const VarianceFunction& variance, double y,
                       const Eigen::Ref<const Vector>& means,
                       const Eigen::Ref<const Vector>& weights, Vector* densities) {
  if (densities != nullptr) densities->resize(means.size());
  if (!are_whole_counts(variance, y, means)) {
    return tails_one_by_one(variance, y, means, weights, densities);
  }
  WholeCounts counts(y, means, variance.quadratic);
  if (densities != nullptr) {
    *densities = counts.at();
    for (Index i = 0; i < means.size(); ++i) {
      if (counts.at()[i] > 0) continue;
      (*densities)[i] = density_by_variance(variance, y, means[i], {0, 0, 0});
    }
  }
  return counts.mixed(weights);
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
