#include "headwater/filters/fast_filter.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "headwater/core/digamma.hpp"
#include "headwater/core/infinity.hpp"
#include "headwater/core/special.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/log_weights.hpp"
#include "headwater/random/distributions.hpp"

namespace headwater {

namespace {

constexpr double kLongestStep = 1;
// Logarithms of activations stay within this of 0.
constexpr double kLargestLog = 300;
// Draws of the correction come in pairs on either side of the best activation.
constexpr Index kPairs = 32;

}  // namespace

FastFilter::FastFilter(const AnyPrior& prior, const Matrix& basis, const FastFilterOptions& options)
    : prior_(prior), options_(options), random_(options.seed) {
  set_prior(prior);
  set_basis(basis);
}

void FastFilter::set_prior(const AnyPrior& prior) {
  prior_ = prior;
  moments_ = prior.moments();
}

void FastFilter::set_basis(const Matrix& basis) {
  basis_ = basis;
  rows_.set(basis);
  column_sums_ = basis.colwise().sum();
  x_.setZero(rows_.stride());
  slopes_.setZero(rows_.stride());
  squares_.setZero(rows_.stride());
}

void FastFilter::predict() {
  if (time_ == 0) {
    predicted_ = {moments_.mean(), moments_.variance()};
    return;
  }
  before_ = filtered_;
  const auto slope = moments_.slope.array();
  predicted_.mean = moments_.intercept.array() + slope * before_.mean.array();
  predicted_.variance = slope.square() * before_.variance.array() + moments_.noise.array() +
                        moments_.noise_slope.array() * before_.mean.array();
}

bool FastFilter::look_at(Observation y) {
  channels_.clear();
  counts_.clear();
  total_ = column_sums_;
  std::size_t missing = 0;
  for (Index m = 0; m < basis_.rows(); ++m) {
    const double exposure = y.exposure(m);
    if (exposure != 1) {
      total_ -= (1 - exposure) * Eigen::Map<const Vector>(rows_.row(m), basis_.cols());
    }
    if (exposure == 0) ++missing;
    if (!(y[m] > 0)) continue;
    channels_.push_back(m);
    counts_.push_back(y[m]);
  }
  ratios_.resize(channels_.size());
  if (missing == y.size()) total_.setZero();
  total_ = total_.cwiseMax(0.0);
  return missing < y.size();
}

FilterStep FastFilter::step(Observation y) {
  predict();
  ++time_;
  filtered_ = predicted_;
  const bool any = look_at(y);
  FilterStep step;
  climb();
  if (!set_slopes()) {
    // No activation explains the counts: as if nothing had been seen.
    step.impossible = true;
    step.log_predictive = kMinusInfinity;
    channels_.clear();
    counts_.clear();
    ratios_.clear();
    total_.setZero();
    climb();
    set_slopes();
    settle();
    return step;
  }
  const double by_surroundings = settle();
  const double log_probability = any && corrects() ? correct(y, step) : by_surroundings;
  step.log_predictive = any ? log_probability + log_base_measure(y) : 0;
  return step;
}

// EM for log x, the components that counts come from being what is missing: with N_k counts
// expected from component k, the best x_k balances N_k - total_k x_k against the predicted law. Its
// steps are carried on with momentum [Nesterov1983].
void FastFilter::climb() {
  const Index components = moments_.slope.size();
  u_ = moments_.is_logarithmic ? predicted_.mean : Vector(predicted_.mean.array().log());
  Vector last = u_;
  for (int i = 0; i < options_.most_steps; ++i) {
    if (!set_slopes() && i > 0) return;
    double largest = 0;
    for (Index k = 0; k < components; ++k) {
      const double step = std::clamp(step_from(k, u_[k]), -kLongestStep, kLongestStep);
      largest = std::max(largest, std::abs(step));
      const double next = std::clamp(u_[k] + step, -kLargestLog, kLargestLog);
      u_[k] = next + (next - last[k]) * i / (i + 3.0);
      last[k] = next;
    }
    if (largest < options_.tolerance) break;
  }
  u_ = last;
}

double FastFilter::step_from(Index k, double u) const {
  const double counts = x_[k] * slopes_[k];
  if (moments_.is_logarithmic) {
    const double precision = 1 / predicted_.variance[k];
    const double expected = total_[k] * x_[k];
    return (counts - expected - (u - predicted_.mean[k]) * precision) / (expected + precision);
  }
  const double rate = predicted_.mean[k] / predicted_.variance[k];
  const double shape = predicted_.mean[k] * rate;
  return std::log((shape + counts) / (rate + total_[k])) - u;
}

bool FastFilter::set_slopes() {
  x_.head(u_.size()) = u_;
  vector_exp(as_span(x_.head(u_.size())), as_span(x_.head(u_.size())));
  x_.segment(u_.size(), basis_.cols() - u_.size()).setOnes();
  poisson_slopes(rows_, channels_, counts_, as_span(x_), ratios_, as_span(slopes_));
  return std::ranges::find(ratios_, 0.0) == ratios_.end();
}

double FastFilter::settle() {
  // The curvature of y log lambda in x_k is y B^2 / lambda^2 = ratio^2 / y B^2.
  double log_likelihood = -total_.dot(x_.head(total_.size()));
  const auto num_counts = static_cast<Index>(channels_.size());
  const Eigen::Map<const Vector> counts(counts_.data(), num_counts);
  const Eigen::Map<const Vector> ratios(ratios_.data(), num_counts);
  scratch_ = counts.cwiseQuotient(ratios);
  vector_log(as_span(scratch_), as_span(scratch_));
  log_likelihood += counts.dot(scratch_);
  scratch_ = ratios.cwiseAbs2().cwiseQuotient(counts);
  weighted_squares(rows_, channels_, as_span(scratch_), as_span(squares_));
  for (Index k = 0; k < u_.size(); ++k) {
    const double curvature = x_[k] * x_[k] * squares_[k];
    log_likelihood +=
        moments_.is_logarithmic ? settle_normal(k, curvature) : settle_gamma(k, curvature);
  }
  points_ = x_.head(basis_.cols()).transpose();
  weights_.setOnes(1);
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

// Draws from the normal law around the best activation, weighed. With few effective draws the
// surroundings are trusted instead, in part: in the part K / effective size.
double FastFilter::correct(Observation y, FilterStep& step) {
  const Index components = u_.size();
  seen_.look_at(y, basis_, column_sums_);
  const auto num_counts = static_cast<Index>(channels_.size());
  Matrix rows = Eigen::Map<const RowMatrix>(seen_.rows().data(), num_counts, basis_.cols())
                    .leftCols(components);
  for (Index j = 0; j < num_counts; ++j) {
    rows.row(j) *= ratios_[static_cast<std::size_t>(j)] /
                   std::sqrt(seen_.counts()[static_cast<std::size_t>(j)]);
  }
  rows *= x_.head(components).asDiagonal();
  Matrix precision = rows.transpose() * rows;
  precision.diagonal() += predicted_.variance.cwiseInverse();
  const Eigen::LLT<Matrix> root(precision);

  const Index n = 2 * kPairs;
  Matrix draws(n, components);
  Vector log_weights(n);
  for (Index i = 0; i < kPairs; ++i) {
    Generator generator = random_.at(time_, static_cast<std::uint32_t>(i), Purpose::particle_moves);
    Vector z(components);
    for (double& value : z) value = normal(generator);
    log_weights[2 * i] = log_weights[2 * i + 1] = 0.5 * z.squaredNorm();
    root.matrixU().solveInPlace(z);
    draws.row(2 * i) = (u_ + z).transpose();
    draws.row(2 * i + 1) = (u_ - z).transpose();
  }
  Matrix activations = Matrix::Ones(n, basis_.cols());
  activations.leftCols(components) = draws.array().exp();
  Vector likelihoods(n);
  log_likelihoods(activations, seen_, as_span(likelihoods));
  for (Index i = 0; i < n; ++i) {
    const Vector away = draws.row(i).transpose() - predicted_.mean;
    log_weights[i] +=
        likelihoods[i] - 0.5 * away.cwiseAbs2().cwiseQuotient(predicted_.variance).sum();
  }
  Vector weights(n);
  const double log_sum =
      normalise_log_weights(as_span(log_weights), as_span(weights), &step.effective_size);
  const double log_determinant =
      2 * root.matrixLLT().diagonal().array().log().sum() + predicted_.variance.array().log().sum();

  const double trusted = std::min(1.0, static_cast<double>(components) / step.effective_size);
  const Vector mean = draws.transpose() * weights;
  for (Index k = 0; k < components; ++k) {
    const double variance = weights.dot((draws.col(k).array() - mean[k]).square().matrix());
    filtered_.mean[k] = (1 - trusted) * mean[k] + trusted * u_[k];
    filtered_.variance[k] = (1 - trusted) * variance + trusted * filtered_.variance[k];
  }
  points_.conservativeResize(n + 1, Eigen::NoChange);
  points_.bottomRows(n) = activations;
  weights_.resize(n + 1);
  weights_ << trusted, (1 - trusted) * weights;
  return log_sum - std::log(static_cast<double>(n)) - 0.5 * log_determinant;
}

Vector FastFilter::activation(const Law& law) const {
  Vector x = Vector::Ones(basis_.cols());
  x.head(law.mean.size()) =
      moments_.is_logarithmic ? Vector((law.mean + law.variance / 2).array().exp()) : law.mean;
  return x;
}

Vector FastFilter::log_activation(const Law& law) const {
  if (moments_.is_logarithmic) return law.mean;
  Vector logs(law.mean.size());
  for (Index k = 0; k < logs.size(); ++k) {
    const double rate = law.mean[k] / law.variance[k];
    logs[k] = digamma(law.mean[k] * rate) - std::log(rate);
  }
  return logs;
}

// The state before is, given this one, on the line that predicts best.
ExpectedMoves FastFilter::moves() const {
  const Vector gain =
      moments_.slope.array() * before_.variance.array() / predicted_.variance.array();
  const Vector before =
      before_.mean.array() + gain.array() * (filtered_.mean - predicted_.mean).array();
  const Vector variance =
      (before_.variance.array() +
       gain.array().square() * (filtered_.variance - predicted_.variance).array())
          .max(0);
  ExpectedMoves moves;
  moves.before = before;
  moves.after = filtered_.mean;
  moves.before_square = variance + before.cwiseAbs2();
  moves.after_square = filtered_.variance + filtered_.mean.cwiseAbs2();
  moves.product = gain.cwiseProduct(filtered_.variance) + before.cwiseProduct(filtered_.mean);
  moves.log_after = log_activation(filtered_);
  return moves;
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
  Matrix basis = basis_;
  archive(prior_, basis, time_, before_, predicted_, filtered_);
  if (!archive.is_reading()) return;
  set_prior(AnyPrior(prior_));
  set_basis(basis);
}

}  // namespace headwater
