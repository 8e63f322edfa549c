#include "headwater/filters/fast_filter.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/digamma.hpp"
#include "headwater/core/infinity.hpp"
#include "headwater/core/special.hpp"
#include "headwater/core/state_checks.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/log_weights.hpp"
#include "headwater/kernels/poisson_slopes.hpp"
#include "headwater/kernels/weighted_gram.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace {

constexpr double kLongestStep = 1;
// Logarithms of activations stay within this of 0.
constexpr double kLargestLog = 300;
// Draws of the correction come in pairs on either side of the best activation.
constexpr Index kPairs = 32;

}  // namespace

FastFilter::FastFilter(const AnyPrior& prior, const Emission& emission,
                       const FastFilterOptions& options)
    : prior_(prior), emission_(emission), options_(options), random_(options.seed) {
  set_prior(prior);
  nothing_seen_.assign_missing(emission.num_channels());
  x_.setZero(emission.rows().stride());
  squares_.setZero(x_.size());
}

void FastFilter::set_prior(const AnyPrior& prior) {
  prior_ = prior;
  moments_ = prior.moments();
}

void FastFilter::predict() {
  if (!has_started()) {
    predicted_ = {moments_.mean(), moments_.variance()};
    return;
  }
  before_ = filtered_;
  const auto slope = moments_.slope.array();
  predicted_.mean = moments_.intercept.array() + slope * before_.mean.array();
  predicted_.variance = slope.square() * before_.variance.array() + moments_.noise.array() +
                        moments_.noise_slope.array() * before_.mean.array();
}

void FastFilter::look_at(const Observation& y) {
  emission_.look_at(y, evidence_);
  total_ = evidence_.total();
  if (!evidence_.any()) total_.setZero();
  total_ = total_.cwiseMax(0.0);
}

FilterStep FastFilter::step(const Observation& y) {
  predict();
  ++time_;
  filtered_ = predicted_;
  look_at(y);
  climb();
  const bool is_impossible = !set_slopes();
  if (is_impossible) {
    // No activation explains the counts: as if nothing had been seen.
    look_at(nothing_seen_);
    climb();
    set_slopes();
  }
  FastReport report;
  double log_probability = settle();
  if (evidence_.any() && corrects()) {
    log_probability = correct(report);
  } else {
    keep_best();
  }
  if (is_impossible) return {kMinusInfinity, true, report};
  return {evidence_.any() ? log_probability + emission_.log_base_measure(y) : 0, false, report};
}

// EM for log x, where the missing data are the components that counts come from. With N_k counts
// expected from component k, the best x_k balances N_k - loss_k x_k against the predicted law. The
// steps have momentum [Nesterov1983].
void FastFilter::climb() {
  const Index components = moments_.slope.size();
  u_ = predicted_.mean;
  if (!moments_.is_logarithmic) u_ = u_.array().log();
  last_ = u_;
  for (int i = 0; i < options_.most_steps; ++i) {
    if (!set_slopes() && i > 0) return;
    double largest = 0;
    for (Index k = 0; k < components; ++k) {
      const double step = std::clamp(step_from(k, u_[k]), -kLongestStep, kLongestStep);
      largest = std::max(largest, std::abs(step));
      const double next = std::clamp(u_[k] + step, -kLargestLog, kLargestLog);
      u_[k] = next + (next - last_[k]) * i / (i + 3.0);
      last_[k] = next;
    }
    if (largest < options_.tolerance) break;
  }
  u_ = last_;
}

double FastFilter::step_from(Index k, double u) const {
  const double counts = x_[k] * forces_.gain_slopes[k];
  const double loss = total_[k] + (forces_.loss_slopes.empty() ? 0 : forces_.loss_slopes[k]);
  if (moments_.is_logarithmic) {
    const double precision = 1 / predicted_.variance[k];
    const double expected = loss * x_[k];
    return (counts - expected - (u - predicted_.mean[k]) * precision) / (expected + precision);
  }
  const double rate = predicted_.mean[k] / predicted_.variance[k];
  const double shape = predicted_.mean[k] * rate;
  return std::log((shape + counts) / (rate + loss)) - u;
}

bool FastFilter::set_slopes() {
  x_.head(u_.size()) = u_;
  vector_exp(as_span(x_.head(u_.size())), as_span(x_.head(u_.size())));
  x_.segment(u_.size(), emission_.num_columns() - u_.size()).setOnes();
  return evidence_.law().climb(evidence_, evidence_.basis(), as_span(x_), forces_);
}

double FastFilter::settle() {
  double log_likelihood = -total_.dot(x_.head(total_.size()));
  log_likelihood += evidence_.law().settle(evidence_, evidence_.basis(), as_span(x_), forces_);
  squares_.setZero();
  Reducer::shared_sum(evidence_.stretches(), as_span(squares_), [&](const Stretch& s, auto out) {
    weighted_squares(evidence_.basis(), evidence_.channels().subspan(s.first, s.size),
                     std::span(forces_.curvatures).subspan(s.first, s.size), out);
  });
  for (Index k = 0; k < u_.size(); ++k) {
    const double curvature = x_[k] * x_[k] * squares_[k];
    log_likelihood +=
        moments_.is_logarithmic ? settle_normal(k, curvature) : settle_gamma(k, curvature);
  }
  return log_likelihood;
}

// With A the curvature in log x, x^A exp(-b x) has the likelihood's slope and curvature at x_k; the
// law is Gamma(a + A, rate) of mean x_k, and what is returned the logarithm of
//   integral of Gamma(x; a, b0) x^A exp(-b x) over x_k^A exp(-b x_k).
double FastFilter::settle_gamma(Index k, double curvature) {
  const double mean = predicted_.mean[k];
  const double rate_before = mean / predicted_.variance[k];
  const double shape_before = mean * rate_before;
  const double shape = shape_before + curvature;
  const double rate = shape / x_[k];
  filtered_.mean[k] = x_[k];
  filtered_.variance[k] = x_[k] * x_[k] / shape;
  return shape_before * std::log(rate_before) - log_gamma(shape_before) + log_gamma(shape) -
         shape * std::log(rate) - curvature * u_[k] + (rate - rate_before) * x_[k];
}

double FastFilter::settle_normal(Index k, double curvature) {
  const double variance_before = predicted_.variance[k];
  const double away = u_[k] - predicted_.mean[k];
  filtered_.mean[k] = u_[k];
  filtered_.variance[k] = 1 / (1 / variance_before + curvature);
  return -0.5 * away * away / variance_before +
         0.5 * std::log(filtered_.variance[k] / variance_before);
}

bool FastFilter::corrects() const {
  return moments_.is_logarithmic && u_.size() <= options_.most_corrected;
}

// By weighted draws from the normal law around the best activation. With few effective draws the
// law of settle() is trusted too: in the part K / effective size.
double FastFilter::correct(FastReport& report) {
  const Index components = u_.size();
  const Index n = 2 * kPairs;
  const Eigen::Map<const RowMatrix> rows = evidence_.rows();
  auto scaled = scaled_rows_.resize(rows.rows(), components);
  scaled.noalias() = rows.leftCols(components) * x_.head(components).asDiagonal();
  precision_.setZero(components, components);
  Reducer::shared_sum(evidence_.stretches(), as_span(precision_), [&](const Stretch& s, auto out) {
    add_weighted_gram(scaled.middleRows(static_cast<Index>(s.first), static_cast<Index>(s.size)),
                      std::span(forces_.curvatures).subspan(s.first, s.size), out.data());
  });
  precision_.diagonal() += predicted_.variance.cwiseInverse();
  root_.compute(precision_);
  draw_around();
  draw_likelihoods_.resize(n);
  evidence_.log_likelihoods(draw_activations_, as_span(draw_likelihoods_));
  for (Index i = 0; i < n; ++i) {
    double distance = 0;
    for (Index k = 0; k < components; ++k) {
      const double away = draws_(i, k) - predicted_.mean[k];
      distance += away * away / predicted_.variance[k];
    }
    log_weights_[i] += draw_likelihoods_[i] - 0.5 * distance;
  }
  draw_weights_.resize(n);
  const double log_sum =
      normalise_log_weights(as_span(log_weights_), as_span(draw_weights_), &report.effective_size);
  const double log_determinant = 2 * root_.matrixLLT().diagonal().array().log().sum() +
                                 predicted_.variance.array().log().sum();
  keep_draws(std::min(1.0, static_cast<double>(components) / report.effective_size));
  return log_sum - std::log(static_cast<double>(n)) - 0.5 * log_determinant;
}

void FastFilter::draw_around() {
  const Index components = u_.size();
  const Index n = 2 * kPairs;
  draws_.resize(n, components);
  log_weights_.resize(n);
  normals_.resize(components);
  for (Index i = 0; i < kPairs; ++i) {
    Generator generator = random_.at(time_, static_cast<std::uint32_t>(i), Purpose::particle_moves);
    for (double& value : normals_) value = normal(generator);
    log_weights_[2 * i] = log_weights_[2 * i + 1] = 0.5 * normals_.squaredNorm();
    root_.matrixU().solveInPlace(normals_);
    draws_.row(2 * i) = (u_ + normals_).transpose();
    draws_.row(2 * i + 1) = (u_ - normals_).transpose();
  }
  draw_activations_.setOnes(n, emission_.num_columns());
  draw_activations_.leftCols(components) = draws_.array().exp();
}

void FastFilter::keep_best() {
  points_.resize(1, emission_.num_columns());
  points_.row(0) = x_.head(emission_.num_columns());
  weights_.setOnes(1);
}

// trusted: how much the law of settle() counts for.
void FastFilter::keep_draws(double trusted) {
  const Index n = draws_.rows();
  draw_mean_.noalias() = draws_.transpose() * draw_weights_;
  for (Index k = 0; k < u_.size(); ++k) {
    const double variance =
        draw_weights_.dot((draws_.col(k).array() - draw_mean_[k]).square().matrix());
    filtered_.mean[k] = (1 - trusted) * draw_mean_[k] + trusted * u_[k];
    filtered_.variance[k] = (1 - trusted) * variance + trusted * filtered_.variance[k];
  }
  points_.resize(n + 1, emission_.num_columns());
  points_.row(0) = x_.head(emission_.num_columns());
  points_.bottomRows(n) = draw_activations_;
  weights_.resize(n + 1);
  weights_[0] = trusted;
  weights_.tail(n) = (1 - trusted) * draw_weights_;
}

Vector FastFilter::activation(const Law& law) const {
  Vector x = Vector::Ones(emission_.num_columns());
  x.head(law.mean.size()) =
      moments_.is_logarithmic ? Vector((law.mean + law.variance / 2).array().exp()) : law.mean;
  return x;
}

// Of logarithms u: x^2 times the variance of u.
void FastFilter::write_activation_variance(Vector& out) const {
  out = filtered_.variance;
  if (moments_.is_logarithmic) out.array() *= x_.head(out.size()).array().square();
}

// Given this state, the state before is on the regression line of the prediction.
void FastFilter::expect_moves(ExpectedMoves& out) const {
  const Index components = moments_.slope.size();
  for (Vector* values : {&out.before, &out.after, &out.before_square, &out.after_square,
                         &out.product, &out.log_after}) {
    values->resize(components);
  }
  for (Index k = 0; k < components; ++k) {
    const double gain = moments_.slope[k] * before_.variance[k] / predicted_.variance[k];
    const double before = before_.mean[k] + gain * (filtered_.mean[k] - predicted_.mean[k]);
    const double variance = std::max(
        0.0, before_.variance[k] + gain * gain * (filtered_.variance[k] - predicted_.variance[k]));
    const double after = filtered_.mean[k];
    out.before[k] = before;
    out.after[k] = after;
    out.before_square[k] = variance + before * before;
    out.after_square[k] = filtered_.variance[k] + after * after;
    out.product[k] = gain * filtered_.variance[k] + before * after;
    out.log_after[k] = log_activation(k);
  }
}

double FastFilter::log_activation(Index k) const {
  if (moments_.is_logarithmic) return filtered_.mean[k];
  const double rate = filtered_.mean[k] / filtered_.variance[k];
  return digamma(filtered_.mean[k] * rate) - std::log(rate);
}

void FastFilter::sample_predicted(Generator& generator, Matrix& out) const {
  out.setOnes();
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index k = 0; k < predicted_.mean.size(); ++k) {
      const double mean = predicted_.mean[k];
      const double variance = predicted_.variance[k];
      out(i, k) = moments_.is_logarithmic
                      ? std::exp(mean + std::sqrt(variance) * normal(generator))
                      : gamma(generator, mean * mean / variance) * variance / mean;
    }
  }
}

void FastFilter::exchange(StateArchive& archive) {
  archive(prior_, emission_, time_, first_time_, before_, predicted_, filtered_);
  if (!archive.is_reading()) return;
  set_prior(AnyPrior(prior_));
  archive.expect(is_count(static_cast<std::int64_t>(time_)), "an invalid time");
  archive.expect(first_time_ >= 1 && first_time_ <= std::max<std::uint64_t>(time_, 1),
                 "a sequence that begins in the future");
  const Index components = moments_.slope.size();
  const auto is_right = [&](const Law& law) {
    return law.mean.size() == components && law.variance.size() == components &&
           law.mean.allFinite() && law.variance.allFinite();
  };
  archive.expect(time_ == 0 || (is_right(predicted_) && is_right(filtered_)), "an invalid law");
  archive.expect(!has_moved() || is_right(before_), "an invalid law");
}

}  // namespace headwater
