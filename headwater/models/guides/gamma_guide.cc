#include "headwater/models/guides/gamma_guide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/core/special.hpp"
#include "headwater/kernels/count_series.hpp"
#include "headwater/kernels/elementary.hpp"

namespace headwater {

namespace {

constexpr std::size_t kLongestSeries = std::size_t{1} << 15;
constexpr double kNegligibleLog = -40;  // of the largest term
constexpr double kLargestLog = 600;     // so that a sum is a number

// b may be negative, but a move must stay integrable, with some room.
constexpr double kLeastRate = 0.2;

constexpr double kLeastActivation = std::numeric_limits<double>::min();

}  // namespace

bool GuidedGammaMove::set(const GammaChain& chain, double a, double b, double most) {
  chain_ = chain;
  a_ = a;
  b_ = b;
  log_constant_ = chain.shape * std::log(chain.rate) -
                  (chain.shape + a) * std::log(chain.rate + b) + log_gamma(chain.shape + a) -
                  log_gamma(chain.shape);
  const double log_mean = std::log(chain.beta * most);  // -infinity: no count but 0
  const double part = chain.rate / (chain.rate + b);
  ratios_.clear();
  double here = 0;
  double largest = 0;
  for (double h = 0; here > largest + kNegligibleLog; ++h) {
    if (ratios_.size() == kLongestSeries) return false;
    const double ratio = part * (chain.shape + a + h) / ((chain.shape + h) * (h + 1));
    ratios_.push_back(ratio);
    here += log_mean + std::log(ratio);
    largest = std::max(largest, here);
  }
  is_long_ = largest > kLargestLog;
  if (is_long_) long_series_ = LongSeries(ratios_);
  return true;
}

void GuidedGammaMove::add_log_worths(std::span<const double> previous,
                                     std::span<double> sums) const {
  thread_local std::vector<double> means, logarithms;
  means.resize(previous.size());
  logarithms.resize(previous.size());
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = chain_.beta * previous[i];
  if (is_long_) {
    std::ranges::transform(means, logarithms.begin(),
                           [&](double mean) { return long_series_.log_sum(mean); });
  } else {
    sum_series(ratios_, means, logarithms);
    vector_log(logarithms, logarithms);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += log_constant_ - means[i] + logarithms[i];
}

void GuidedGammaMove::draw(Index k, const RandomBlock& random, States uniforms,
                           std::span<const double> previous, std::span<double> next) const {
  thread_local std::vector<double> means;
  means.resize(previous.size());
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = chain_.beta * previous[i];
  const std::span<double> shapes = as_span(uniforms.col(kNumbers * k));
  if (is_long_) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      shapes[i] = static_cast<double>(long_series_.draw(shapes[i], means[i]));
    }
  } else {
    draw_from_series(ratios_, means, shapes, shapes);
  }
  for (double& shape : shapes) shape += chain_.shape + a_;
  draw_gammas(shapes, k, random, uniforms, kNumbers * k + 1, next);
  const double scale = 1 / (chain_.rate + b_);
  for (double& x : next) x *= scale;
}

// The law of the next state has the moments of a gamma density; the point is where that and the
// likelihood have their mode together, in log x.
void GammaGuide::find_point(const Evidence& evidence, ConstStates previous,
                            const Eigen::Ref<const Vector>& weights) {
  const auto components = static_cast<Index>(chains_.size());
  mean_.resize(components);
  predicted_shape_.resize(components);
  predicted_rate_.resize(components);
  for (Index k = 0; k < components; ++k) {
    const GammaChain& c = chains_[k];
    double before = 0;
    double variance_before = 0;
    if (previous.rows() > 0) {
      before = weights.dot(previous.col(k));
      variance_before = weights.dot((previous.col(k).array() - before).square().matrix());
    }
    mean_[k] = (c.shape + c.beta * before) / c.rate;
    const double variance = (c.shape + 2 * c.beta * before) / (c.rate * c.rate) +
                            c.beta * c.beta / (c.rate * c.rate) * variance_before;
    predicted_rate_[k] = mean_[k] / variance;
    predicted_shape_[k] = mean_[k] * predicted_rate_[k];
  }
  mean_ = mean_.array().log();
  laplace_.fit(evidence, mean_, [&](const Vector& u, Vector& slope, Matrix& curvature) {
    tilt_ = predicted_rate_.array() * u.array().exp();
    slope += predicted_shape_ - tilt_;
    if (laplace_.is_full()) {
      curvature.diagonal() += tilt_;
    } else {
      curvature += tilt_;
    }
  });
}

// As if all were Gaussian in log x: what is known of component k when the others are not known is
// 1 / S_kk - p_k, S the inverse of J + diag(p), J the curvature and p that of the prior, where it
// would be J_kk if they were.
void GammaGuide::temper() {
  const Index components = laplace_.point().size();
  tempered_.setOnes(components);
  if (!laplace_.is_full()) return;
  precision_ = predicted_rate_.array() * laplace_.point().array().exp();
  sum_ = laplace_.curvature();
  sum_.diagonal() += precision_;
  factor_.compute(sum_);
  inverse_.setIdentity(components, components);
  factor_.solveInPlace(inverse_);
  for (Index k = 0; k < components; ++k) {
    const double alone = laplace_.curvature()(k, k);
    const double marginal = 1 / inverse_(k, k) - precision_[k];
    if (alone > 0) tempered_[k] = std::clamp(marginal / alone, 0.0, 1.0);
  }
}

bool GammaGuide::look_at(const std::vector<GammaChain>& chains, const Evidence& evidence,
                         ConstStates previous, const Eigen::Ref<const Vector>& weights) {
  chains_ = chains;
  if (previous.rows() == 0) {
    for (GammaChain& c : chains_) c = {c.shape, c.rate - c.beta, 0};
  }
  find_point(evidence, previous, weights);
  const auto components = static_cast<Index>(chains_.size());
  temper();
  a_.resize(components);
  b_.resize(components);
  moves_.resize(chains_.size());
  log_scale_ = 0;
  for (Index k = 0; k < components; ++k) {
    const double x = std::exp(laplace_.point()[k]);
    const double slope = laplace_.slope()[k];
    const double curvature =
        laplace_.is_full() ? laplace_.curvature()(k, k) : laplace_.curvature()(k, 0);
    a_[k] = std::max(0.0, tempered_[k] * (curvature - std::max(0.0, -slope)));
    b_[k] = std::max((a_[k] - slope) / x, (kLeastRate - 1) * chains_[k].rate);
    log_scale_ += a_[k] * laplace_.point()[k] - b_[k] * x;
    const double most = previous.rows() > 0 ? previous.col(k).maxCoeff() : 0;
    if (!moves_[k].set(chains_[k], a_[k], b_[k], most)) return false;
  }
  return a_.allFinite() && b_.allFinite();
}

void GammaGuide::log_worths(ConstStates previous, Eigen::Ref<Vector> out) const {
  out.setConstant(-log_scale_);
  const Vector none = Vector::Zero(previous.rows() == 0 ? out.size() : 0);
  for (Index k = 0; k < a_.size(); ++k) {
    moves_[k].add_log_worths(previous.rows() > 0 ? as_span(previous.col(k)) : as_span(none),
                             as_span(out));
  }
}

void GammaGuide::draw(const RandomBlock& random, ConstStates previous, States next) const {
  States uniforms = uniform_numbers(random, next.rows(), GuidedGammaMove::kNumbers * a_.size());
  const Vector none = Vector::Zero(previous.rows() == 0 ? next.rows() : 0);
  for (Index k = 0; k < a_.size(); ++k) {
    moves_[k].draw(k, random, uniforms,
                   previous.rows() > 0 ? as_span(previous.col(k)) : as_span(none),
                   as_span(next.col(k)));
  }
}

void GammaGuide::log_values(ConstStates states, Eigen::Ref<Vector> out) const {
  thread_local Vector logarithms;
  if (logarithms.size() < states.rows()) logarithms.resize(states.rows());
  auto log_x = logarithms.head(states.rows());
  out.setConstant(-log_scale_);
  for (Index k = 0; k < a_.size(); ++k) {
    log_x = states.col(k).cwiseMax(kLeastActivation);
    vector_log(as_span(log_x), as_span(log_x));
    out += a_[k] * log_x - b_[k] * states.col(k);
  }
}

}  // namespace headwater
