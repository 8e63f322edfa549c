#include "headwater/session/mixed_tails.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
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
// A smaller p(y) may have been rounded to 0 under some of the laws.
constexpr double kSafeDensity = 1e-250;
// A law whose tail is a smaller part of the mixture's is left out.
constexpr double kUnseen = 1e-16;

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

// Whether the law is negative binomial, or Poisson's, and y a count.
bool is_whole_count(const VarianceFunction& variance, double y) {
  return !variance.has_hurdle() && variance.constant == 0 && variance.linear == 1 &&
         y == std::floor(y);
}

// Whether WholeCounts can stand for one law after the other.
bool are_moderate(double y, const Eigen::Ref<const Vector>& means) {
  return y + means.maxCoeff() <= kLargeSum && means.minCoeff() >= 0;
}

// Room for so many numbers, until the next call on this thread.
double* room_for(Index size) {
  thread_local std::vector<double> room;
  if (std::ssize(room) < size) room.resize(static_cast<std::size_t>(size));
  return room.data();
}

double dispersion_or_none(double dispersion) {
  return dispersion < negative_binomial::kLeastDispersion ? 0 : dispersion;
}

// Few counts are summed up from p(0) on, in one pass over all laws. Returns nothing where that is
// not accurate: where a mean is too large, or the upper tail or p(y) too small.
std::optional<CountTails> tails_of_few(double y, double phi, const Eigen::Ref<const Vector>& means,
                                       const Eigen::Ref<const Vector>& weights, Vector* densities) {
  const Index size = means.size();
  Eigen::Map<Vector> factors(room_for(3 * size), size);
  Eigen::Map<Vector> log_zero(factors.data() + size, size);
  Eigen::Map<Vector> at(densities == nullptr ? log_zero.data() + size : densities->data(), size);
  MixedSums sums;
  if (phi > 0) {
    factors = means.array() / (1 + phi * means.array());
    for (Index i = 0; i < size; ++i) log_zero[i] = -negative_binomial::softened(means[i], phi);
    sums =
        mix_from_zero(y, phi, as_span(factors), as_span(log_zero), as_span(weights), as_span(at));
    sums.most = means.maxCoeff();
  } else {
    sums = mix_from_zero(y, phi, as_span(means), {}, as_span(weights), as_span(at));
  }
  const CountTails tails{sums.below, sums.at, sums.weight - sums.below - sums.at};
  const bool is_accurate = sums.least >= 0 && sums.most <= kLargestMean &&
                           tails.above >= kSafeTail && tails.at >= kSafeDensity;
  return is_accurate ? std::optional(tails) : std::nullopt;
}

// All laws at a time. Few counts are summed up from p(0) on. Of many, each law's smaller tail is
// summed up from p(y) on.
class WholeCounts {
 public:
  // One at a time on a thread.
  WholeCounts(double y, const Eigen::Ref<const Vector>& means, double dispersion)
      : y_(y),
        phi_(dispersion),
        means_(means),
        factors_(room_for(8 * means.size()), means.size()),
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
    find_tails(weights);
    tails.below = weights.dot(below_);
    tails.above = weights.dot(above_);
    return tails;
  }

 private:
  // P(Y > y) of each law, and P(Y < y) if that is not known yet.
  void find_tails(const Eigen::Ref<const Vector>& weights) {
    if (y_ == 0) {
      above_ = means_.unaryExpr(
          [&](double mean) { return -std::expm1(-negative_binomial::softened(mean, phi_)); });
      return;
    }
    sum_side(false, weights, above_);
    if (!is_few_) sum_side(true, weights, below_);
    for (Index i = 0; i < means_.size(); ++i) {
      if (means_[i] > y_) {
        above_[i] = std::max(0.0, 1 - at_[i] - below_[i]);
      } else if (!is_few_) {
        below_[i] = std::max(0.0, 1 - at_[i] - above_[i]);
      }
    }
  }

  // The tails away from the mean, of laws whose mean is above y or of the others. A tail is between
  // its first term and a geometric series. So a law whose series is nothing beside the first terms
  // of all is left out: most laws are, where the mean of a large count may be one of many.
  void sum_side(bool is_beyond, const Eigen::Ref<const Vector>& weights, Eigen::Map<Vector>& sums) {
    const Index size = means_.size();
    Eigen::Map<Vector> bounds(above_.data() + size, size);
    Eigen::Map<Vector> some_factors(bounds.data() + size, size);
    Eigen::Map<Vector> some_at(some_factors.data() + size, size);
    Eigen::Map<Vector> some_sums(some_at.data() + size, size);
    double first_terms = 0;
    for (Index i = 0; i < size; ++i) {
      bounds[i] = 0;
      if ((means_[i] > y_) != is_beyond || !(at_[i] > 0)) continue;
      const double first = weights[i] * at_[i] * first_ratio(is_beyond, factors_[i]);
      const double ratio = largest_ratio(is_beyond, factors_[i]);
      first_terms += first;
      bounds[i] = ratio < 1 ? first / (1 - ratio) : std::numeric_limits<double>::infinity();
    }
    Index listed = 0;
    for (Index i = 0; i < size; ++i) {
      if (!(bounds[i] > kUnseen * first_terms)) continue;
      some_factors[listed] = factors_[i];
      some_at[listed++] = at_[i];
    }
    const auto some = [&](const Eigen::Map<Vector>& all) { return as_span(all.head(listed)); };
    if (is_beyond) {
      sum_below(y_, phi_, some(some_factors), some(some_at), as_span(some_sums.head(listed)));
    } else {
      sum_above(y_, phi_, some(some_factors), some(some_at), as_span(some_sums.head(listed)));
    }
    for (Index i = 0, j = 0; i < size; ++i) {
      if ((means_[i] > y_) != is_beyond) continue;
      sums[i] = bounds[i] > kUnseen * first_terms ? some_sums[j++] : 0;
    }
  }

  // Of the term next to p(y), and of any term after it.
  double first_ratio(bool is_beyond, double factor) const {
    return is_beyond ? y_ / (factor * (1 + (y_ - 1) * phi_)) : factor * (1 + y_ * phi_) / (y_ + 1);
  }
  double largest_ratio(bool is_beyond, double factor) const {
    return std::max(first_ratio(is_beyond, factor), is_beyond ? 1 / factor : factor * phi_);
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
  const double phi = dispersion_or_none(variance.quadratic);
  if (is_whole_count(variance, y) && y <= kFewCounts) {
    if (const auto tails = tails_of_few(y, phi, means, weights, densities)) return *tails;
  }
  if (!is_whole_count(variance, y) || !are_moderate(y, means)) {
    return tails_one_by_one(variance, y, means, weights, densities);
  }
  WholeCounts counts(y, means, phi);
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
