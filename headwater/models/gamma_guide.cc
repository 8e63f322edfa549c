#include "headwater/models/gamma_guide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/core/special.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/random/distributions.hpp"

namespace headwater {

namespace {

constexpr std::size_t kLongestSeries = std::size_t{1} << 15;
constexpr double kNegligible = 1e-15;   // of a sum
constexpr double kNegligibleLog = -40;  // of the largest term

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
  inverse_ratios_.clear();
  log_products_.assign(1, 0);
  double largest = 0;
  for (double h = 0;; ++h) {
    const double here = log_products_.back() + (h > 0 ? h * log_mean : 0);
    largest = std::max(largest, here);
    if (!(here > largest + kNegligibleLog)) return true;
    if (ratios_.size() == kLongestSeries) return false;
    const double ratio = part * (chain.shape + a + h) / ((chain.shape + h) * (h + 1));
    ratios_.push_back(ratio);
    inverse_ratios_.push_back(1 / ratio);
    log_products_.push_back(log_products_.back() + std::log(ratio));
  }
}

GuidedGammaMove::Series GuidedGammaMove::sum_series(double mean) const {
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

double GuidedGammaMove::log_worth(double previous) const {
  const double mean = chain_.beta * previous;
  if (!(mean > 0)) return log_constant_;
  const Series series = sum_series(mean);
  return log_constant_ - mean + static_cast<double>(series.mode) * std::log(mean) +
         log_products_[series.mode] + std::log(series.sum);
}

// From the mode outward, upward and downward in turn.
Index GuidedGammaMove::draw_count(Generator& generator, double mean) const {
  if (!(mean > 0)) return 0;
  const Series series = sum_series(mean);
  double left = generator.uniform() * series.sum - 1;
  Index up = series.mode;
  Index down = series.mode;
  double up_term = 1;
  double down_term = 1;
  const auto last = static_cast<Index>(ratios_.size());
  const double inverse = 1 / mean;
  while (left > 0) {
    const bool has_up = up < last && up_term > 0;
    const bool has_down = down > 0 && down_term > 0;
    if (!has_up && !has_down) return series.mode;  // nothing but rounding is left
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
  return series.mode;
}

double GuidedGammaMove::draw(Generator& generator, double previous) const {
  const auto h = static_cast<double>(draw_count(generator, chain_.beta * previous));
  return gamma(generator, chain_.shape + h + a_) / (chain_.rate + b_);
}

// The law of the next state has the moments of a gamma density; the point is where that and the
// likelihood have their mode together, in log x.
void GammaGuide::find_point(const SeenChannels& seen, ConstStates previous,
                            const Eigen::Ref<const Vector>& weights) {
  const auto components = static_cast<Index>(chains_.size());
  Vector mean(components);
  predicted_shape_.resize(components);
  predicted_rate_.resize(components);
  for (Index k = 0; k < components; ++k) {
    const GammaChain& c = chains_[k];
    double before = 0;
    double variance_before = 0;
    if (previous.rows() > 0) {
      before = weights.dot(previous.col(k));
      variance_before = weights.dot(Vector((previous.col(k).array() - before).square()));
    }
    mean[k] = (c.shape + c.beta * before) / c.rate;
    const double variance = (c.shape + 2 * c.beta * before) / (c.rate * c.rate) +
                            c.beta * c.beta / (c.rate * c.rate) * variance_before;
    predicted_rate_[k] = mean[k] / variance;
    predicted_shape_[k] = mean[k] * predicted_rate_[k];
  }
  laplace_.fit(seen, mean.array().log(), [&](const Vector& u, Vector& slope, Matrix& curvature) {
    const Vector tilt = predicted_rate_.array() * u.array().exp();
    slope += predicted_shape_ - tilt;
    if (laplace_.is_full()) {
      curvature.diagonal() += tilt;
    } else {
      curvature += tilt;
    }
  });
}

// As if all were Gaussian in log x: what is known of component k when the others are not known is
// 1 / S_kk - p_k, S the inverse of J + diag(p), J the curvature and p that of the prior, where it
// would be J_kk if they were.
Vector GammaGuide::tempered() const {
  const Index components = laplace_.point().size();
  if (!laplace_.is_full()) return Vector::Ones(components);
  const Vector precision = predicted_rate_.array() * laplace_.point().array().exp();
  Matrix sum = laplace_.curvature();
  sum.diagonal() += precision;
  const Eigen::LLT<Matrix> factor(sum);
  const Vector marginal =
      factor.solve(Matrix::Identity(components, components)).diagonal().cwiseInverse() - precision;
  Vector part(components);
  for (Index k = 0; k < components; ++k) {
    const double alone = laplace_.curvature()(k, k);
    part[k] = alone > 0 ? std::clamp(marginal[k] / alone, 0.0, 1.0) : 1;
  }
  return part;
}

bool GammaGuide::look_at(std::vector<GammaChain> chains, const SeenChannels& seen,
                         ConstStates previous, const Eigen::Ref<const Vector>& weights) {
  chains_ = std::move(chains);
  if (previous.rows() == 0) {
    for (GammaChain& c : chains_) c = {c.shape, c.rate - c.beta, 0};
  }
  find_point(seen, previous, weights);
  const auto components = static_cast<Index>(chains_.size());
  const Vector part = tempered();
  a_.resize(components);
  b_.resize(components);
  moves_.resize(chains_.size());
  log_scale_ = 0;
  for (Index k = 0; k < components; ++k) {
    const double x = std::exp(laplace_.point()[k]);
    const double slope = laplace_.slope()[k];
    const double curvature =
        laplace_.is_full() ? laplace_.curvature()(k, k) : laplace_.curvature()(k, 0);
    a_[k] = std::max(0.0, part[k] * (curvature - std::max(0.0, -slope)));
    b_[k] = std::max((a_[k] - slope) / x, (kLeastRate - 1) * chains_[k].rate);
    log_scale_ += a_[k] * laplace_.point()[k] - b_[k] * x;
    const double most = previous.rows() > 0 ? previous.col(k).maxCoeff() : 0;
    if (!moves_[k].set(chains_[k], a_[k], b_[k], most)) return false;
  }
  return a_.allFinite() && b_.allFinite();
}

void GammaGuide::log_worths(ConstStates previous, Eigen::Ref<Vector> out) const {
  out.setConstant(-log_scale_);
  for (Index k = 0; k < a_.size(); ++k) {
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += moves_[k].log_worth(previous.rows() > 0 ? previous(i, k) : 0);
    }
  }
}

void GammaGuide::draw(const RandomBlock& random, ConstStates previous, States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < a_.size(); ++k) {
      next(i, k) = moves_[k].draw(generator, previous.rows() > 0 ? previous(i, k) : 0);
    }
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
