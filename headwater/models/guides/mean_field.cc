#include "headwater/models/guides/mean_field.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/log_weights.hpp"
#include "headwater/kernels/poisson.hpp"

namespace headwater {

namespace {

constexpr int kMostSweeps = 2;
constexpr double kSmallChange = 0.01;

// What others have at least in an intensity, as a part of it: none at all would make a level
// impossible that is so only at these means.
constexpr double kLeastOthers = 1e-6;

constexpr double kLeastVariance = 1e-6;
constexpr double kLeastTempered = 0.05;
constexpr Index kMostTempered = 128;

}  // namespace

void MeanField::fit(const SeenChannels& seen, const std::vector<Axis>& axes) {
  seen_ = &seen;
  means_.setOnes(seen.total().size());
  variances_.setZero(seen.total().size());
  first_.assign(1, 0);
  for (const Axis& axis : axes) {
    means_.segment(first_.back(), axis.levels.cols()) = axis.levels.transpose() * axis.law;
    first_.push_back(first_.back() + axis.levels.cols());
  }
  const auto channels = static_cast<Index>(seen.counts().size());
  columns_ = Eigen::Map<const RowMatrix>(seen.rows().data(), channels, means_.size());
  intensities_.noalias() = columns_ * means_;
  tempered_.setOnes(static_cast<Index>(axes.size()));
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double change = 0;
    for (Index a = 0; a < tempered_.size(); ++a) {
      change = std::max(change, update(a, axes[static_cast<std::size_t>(a)]));
    }
    if (change < kSmallChange) break;
  }
  if (channels > 0 && axes.size() > 1 && means_.size() <= kMostTempered) temper(axes);
}

void MeanField::take_others(Index axis) {
  const Index first = first_[axis];
  const Index size = first_[axis + 1] - first;
  const auto channels = static_cast<Index>(seen_->counts().size());
  rows_.resize(static_cast<std::size_t>(channels * (size + 1)));
  Eigen::Map<RowMatrix> rows(rows_.data(), channels, size + 1);
  rows.leftCols(size) = columns_.middleCols(first, size);
  rows.col(size) = (intensities_ - columns_.middleCols(first, size) * means_.segment(first, size))
                       .cwiseMax(kLeastOthers * intensities_);
  total_.setZero(size + 1);
  total_.head(size) = seen_->total().segment(first, size);
}

void MeanField::log_likelihoods(const Eigen::Ref<const Matrix>& levels, Eigen::Ref<Vector> out) {
  points_.setOnes(levels.rows(), levels.cols() + 1);
  points_.leftCols(levels.cols()) = levels;
  poisson_log_likelihoods(points_, rows_, seen_->count_runs(), as_span(total_), as_span(out));
}

double MeanField::update(Index axis, const Axis& of) {
  take_others(axis);
  profile_.resize(of.levels.rows());
  log_likelihoods(of.levels, profile_);
  profile_.array() += of.law.array().log();
  Vector law = of.law;
  normalise_log_weights(as_span(profile_), as_span(law));
  const Index first = first_[axis];
  auto means = means_.segment(first, of.levels.cols());
  const Vector now = of.levels.transpose() * law;
  const double change = (now - means).cwiseAbs().maxCoeff();
  intensities_ += columns_.middleCols(first, of.levels.cols()) * (now - means);
  means = now;
  variances_.segment(first, now.size()) =
      (of.levels.cwiseAbs2().transpose() * law - now.cwiseAbs2()).cwiseMax(0);
  return change;
}

// As if all were Gaussian, of curvature J = sum_j y_j b_j b_j' / lambda_j^2 and variances v: what
// is known of component k when the others are not known is 1 / S_kk - 1 / v_k, S the inverse of J +
// diag(1 / v), where it would be J_kk if they were.
void MeanField::temper(const std::vector<Axis>& axes) {
  const Index components = first_.back();
  const auto channels = static_cast<Index>(seen_->counts().size());
  const Eigen::Map<const Vector> counts(seen_->counts().data(), channels);
  const Vector floored = intensities_.cwiseMax(std::numeric_limits<double>::min());
  const Vector scale = counts.array().sqrt() / floored.array();
  const Matrix scaled = scale.asDiagonal() * columns_.leftCols(components);
  Matrix sum = Matrix::Zero(components, components);
  sum.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
  const Vector curvature = sum.diagonal();
  const Vector precision = variances_.head(components).cwiseMax(kLeastVariance).cwiseInverse();
  sum.diagonal() += precision;
  const Eigen::LLT<Matrix> factor(sum);
  const Vector marginal =
      factor.solve(Matrix::Identity(components, components)).diagonal().cwiseInverse() - precision;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    double least = 1;
    for (Index k = first_[a]; k < first_[a + 1]; ++k) {
      if (curvature[k] > 0) least = std::min(least, marginal[k] / curvature[k]);
    }
    tempered_[static_cast<Index>(a)] = std::clamp(least, kLeastTempered, 1.0);
  }
}

void MeanField::log_profile(Index axis, const Eigen::Ref<const Matrix>& levels,
                            Eigen::Ref<Vector> out) {
  take_others(axis);
  log_likelihoods(levels, out);
  out *= tempered_[axis];
}

namespace {

// a log(x + c) - b x.
struct LogCurve {
  double a, c, b;
  double operator()(double x) const { return a * std::log(x + c) - b * x; }
};

// rows: n x 2, what one unit adds to an intensity and what is there without. With s1 and s2 the
// sums of y r / lambda and y r^2 / lambda^2 at x, the slope is s1 - b = a / (x + c) - b and the
// curvature s2 = a / (x + c)^2; since r x <= lambda, c is not negative.
LogCurve fit_curve(std::span<const double> rows, std::span<const double> counts, double total,
                   double x) {
  double s1 = 0;
  double s2 = 0;
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const double part = rows[2 * j] / (rows[2 * j + 1] + rows[2 * j] * x);
    s1 += counts[j] * part;
    s2 += counts[j] * part * part;
  }
  if (!(s2 > 0)) return {0, 1, total};
  const double c = std::max(s1 / s2 - x, std::numeric_limits<double>::min());
  return {s1 * s1 / s2, c, total};
}

}  // namespace

void MeanField::log_profile_between(Index axis, const Vector& nodes,
                                    const Eigen::Ref<const Vector>& levels,
                                    Eigen::Ref<Vector> out) {
  take_others(axis);
  profile_.resize(nodes.size());
  log_likelihoods(nodes, profile_);
  const LogCurve curve = fit_curve(rows_, seen_->counts(), total_[0], means_[first_[axis]]);
  for (Index n = 0; n < nodes.size(); ++n) profile_[n] -= curve(nodes[n]);
  out = levels.array() + curve.c;
  vector_log(as_span(out), as_span(out));
  for (Index i = 0; i < levels.size(); ++i) {
    const double* const above =
        std::lower_bound(nodes.data() + 1, nodes.data() + nodes.size() - 1, levels[i]);
    const Index n = above - nodes.data();
    const double along = (levels[i] - nodes[n - 1]) / (nodes[n] - nodes[n - 1]);
    const double rest =
        profile_[n - 1] + std::clamp(along, 0.0, 1.0) * (profile_[n] - profile_[n - 1]);
    out[i] = tempered_[axis] * (curve.a * out[i] - curve.b * levels[i] + rest);
  }
}

}  // namespace headwater
