#include "headwater/learning/laplace_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "headwater/emission/shared_rows.hpp"
#include "headwater/learning/path_coordinate.hpp"
#include "headwater/smoothers/smoother.hpp"

namespace headwater {

namespace {

constexpr int kMostNewtonSteps = 30;
// A step of log x that is as good as none: what is left is second order in it.
constexpr double kSmallStep = 1e-4;
// A factor of seven. Longer steps overshoot where the curvature changes.
constexpr double kLongestStep = 2;
// The same for the cube root of x, as a part of it.
constexpr double kLongestPart = 0.5;
constexpr int kMostHalvings = 8;
// Where second differences around the path are taken: standard deviations. Farther out they would
// mix in the fourth order.
constexpr double kNear = 0.1;
// The mean is no farther from the mode than so many deviations of what is not seen.
constexpr double kMostShift = 1;
// Of the largest entry, what is added to a block that is not positive definite.
constexpr double kLeastRidge = 1e-3;

}  // namespace

LaplacePath::LaplacePath(const RecordView& record) : record_(record) {}

bool LaplacePath::is_in_reach(const AnyPrior& prior) {
  return prior.is_affine() && prior.num_components() <= Laplace::kMostFull;
}

Matrix LaplacePath::covariance(Index t) const {
  return Eigen::Map<const Matrix>(covariances_.col(t).data(), components_, components_);
}

double LaplacePath::fit(const Estimate& estimate) {
  const Emission emission = estimate.emission();
  const LogMoves moves(estimate.prior.moments());
  components_ = moves.num_components();
  is_logarithmic_ = moves.is_logarithmic();
  most_.resize(components_);
  for (Index k = 0; k < components_; ++k) most_[k] = moves.variance(k);
  if (!has_path_) begin(emission, moves);
  double value = look(emission, moves);
  double decrement = 0;
  Matrix best = path_;
  for (newton_steps_ = 1;; ++newton_steps_) {
    Matrix step = slopes_;
    solve(step);
    decrement = step.cwiseProduct(slopes_).sum();
    const double length = step.cwiseAbs().maxCoeff();
    if (!(length > kSmallStep) || newton_steps_ == kMostNewtonSteps) break;
    bound(step);
    best = path_;
    double next = -std::numeric_limits<double>::infinity();
    for (int i = 0; i <= kMostHalvings && !(next >= value); ++i) {
      path_ = best + step * std::ldexp(1.0, -i);
      next = look(emission, moves);
    }
    if (!(next >= value)) {
      path_ = best;
      value = look(emission, moves);
      decrement = 0;
      break;
    }
    value = next;
  }
  has_path_ = true;
  find_covariances();
  bound_covariances();
  find_means(emission, moves);
  double base = 0;
  for (Index t = 0; t < size(); ++t) base += emission.log_base_measure(record_[t]);
  const auto numbers = static_cast<double>(size() * components_);
  return base + value + decrement / 2 +
         (numbers * std::log(2 * std::numbers::pi) - log_determinant_) / 2;
}

// From observations by themselves, each with the stationary law before it.
void LaplacePath::begin(const Emission& emission, const LogMoves& moves) {
  path_.resize(components_, size());
  slopes_.resize(components_, size());
  links_.setZero(components_, size());
  own_.resize(components_, size());
  cross_.setZero(components_, size());
  filtered_.resize(components_ * components_, size());
  covariances_.resize(components_ * components_, size());
  points_.resize(2 * components_ + 3, components_);
  point_weights_.resize(points_.rows());
  Vector mean(components_);
  Vector precision(components_);
  for (Index k = 0; k < components_; ++k) {
    mean[k] = moves.mean(k);
    precision[k] = 1 / moves.variance(k);
  }
  const auto add_prior = [&](const Vector& u, Vector& slope, Matrix& curvature) {
    slope.array() -= precision.array() * (u - mean).array();
    curvature.diagonal() += precision;
  };
  for (Index t = 0; t < size(); ++t) {
    emission.look_at(record_[t], evidence_);
    laplace_.fit(evidence_, mean, add_prior);
    path_.col(t) = is_logarithmic_ ? laplace_.point() : (laplace_.point() / 3).array().exp();
  }
}

// Each observation has a bound of its own, so that one of them does not hold up all others.
void LaplacePath::bound(Matrix& step) const {
  for (Index t = 0; t < size(); ++t) {
    const double largest =
        is_logarithmic_
            ? step.col(t).cwiseAbs().maxCoeff() / kLongestStep
            : step.col(t).cwiseQuotient(path_.col(t)).cwiseAbs().maxCoeff() / kLongestPart;
    if (largest > 1) step.col(t) /= largest;
  }
}

Vector LaplacePath::logarithms(const Eigen::Ref<const Vector>& z) const {
  return is_logarithmic_ ? z : (3 * z.array().log()).matrix();
}

// The slope of the log-likelihood in z.
Vector LaplacePath::slope_in(const Eigen::Ref<const Vector>& z) const {
  return is_logarithmic_ ? laplace_.slope() : (3 * laplace_.slope().array() / z.array()).matrix();
}

double LaplacePath::look(const Emission& emission, const LogMoves& moves) {
  double value = 0;
  slopes_.setZero();
  own_.setZero();
  log_determinant_ = 0;
  for (Index t = 0; t < size(); ++t) {
    for (Index k = 0; k < components_; ++k) {
      if (begins(t)) {
        const LogStateTerms terms = first_in_coordinate(moves, k, path_(k, t));
        value += terms.value;
        slopes_(k, t) += terms.d1;
        own_(k, t) -= terms.d2;
      } else {
        const LogMoveTerms terms = move_in_coordinate(moves, k, path_(k, t - 1), path_(k, t));
        value += terms.value;
        slopes_(k, t - 1) += terms.b;
        slopes_(k, t) += terms.a;
        own_(k, t - 1) -= terms.bb;
        own_(k, t) -= terms.aa;
        links_(k, t - 1) = -terms.ba;
      }
    }
  }
  for (Index t = 0; t < size(); ++t) {
    emission.look_at(record_[t], evidence_);
    laplace_.look_at(evidence_, logarithms(path_.col(t)));
    value += laplace_.value(evidence_);
    slopes_.col(t) += slope_in(path_.col(t));
    factorise(t);
  }
  return value;
}

// P_t = (H_tt - links P_t-1 links)^-1. The curvature of the counts is the true one where that is
// positive definite, and else the one that is never negative.
void LaplacePath::factorise(Index t) {
  Matrix rest = own_.col(t).asDiagonal();
  if (!begins(t)) {
    const auto link = links_.col(t - 1);
    rest.noalias() -= link.asDiagonal() * block(filtered_, t - 1) * link.asDiagonal();
  }
  Matrix curvature = laplace_.curvature();
  Vector left_out = (-laplace_.slope().array()).min(0);
  if (!is_logarithmic_) {
    const auto z = path_.col(t).array();
    const Vector d1 = 3 / z;
    curvature = d1.asDiagonal() * curvature * d1.asDiagonal();
    left_out.array() *= d1.array().square();
    const Vector bent = 3 * laplace_.slope().array() / z.square();
    curvature.diagonal() += bent.cwiseMax(0);
    left_out += bent.cwiseMin(0);
  }
  precision_ = curvature + rest;
  precision_.diagonal() += left_out;
  if (invert_precision(t)) return count_determinant();
  precision_ = curvature + rest;
  double ridge = kLeastRidge * std::max(1.0, precision_.cwiseAbs().maxCoeff());
  for (; !invert_precision(t) && std::isfinite(ridge); ridge *= 2) {
    precision_.diagonal().array() += ridge;
  }
  count_determinant();
}

// Where what has been seen would leave more doubt than there was before, H is all but singular,
// and sums along the path would grow without bound.
bool LaplacePath::invert_precision(Index t) {
  factor_.compute(precision_);
  if (factor_.info() != Eigen::Success) return false;
  auto filtered = block(filtered_, t);
  filtered.setIdentity();
  factor_.solveInPlace(filtered);
  const auto variances = filtered.diagonal().array();
  return (variances <= most_deviations(t).array().square()).all() &&
         (variances * links_.col(t).array().abs() <= 1).all();
}

void LaplacePath::count_determinant() {
  log_determinant_ += 2 * factor_.matrixLLT().diagonal().array().log().sum();
}

void LaplacePath::solve(Matrix& b) const {
  const auto filtered = [&](Index t) {
    return Eigen::Map<const Matrix>(filtered_.col(t).data(), components_, components_);
  };
  Vector carried;
  for (Index t = 1; t < size(); ++t) {
    if (begins(t)) continue;
    carried.noalias() = filtered(t - 1) * b.col(t - 1);
    b.col(t) -= links_.col(t - 1).cwiseProduct(carried);
  }
  for (Index t = size() - 1; t >= 0; --t) {
    carried = b.col(t);
    if (t + 1 < size() && !begins(t + 1)) carried -= links_.col(t).cwiseProduct(b.col(t + 1));
    b.col(t).noalias() = filtered(t) * carried;
  }
}

// V_t = P_t + G V_t+1 G', where G = P_t links_t, and u_t and u_t+1 have the covariance -G V_t+1.
void LaplacePath::find_covariances() {
  Matrix gain;
  Matrix carried;
  for (Index t = size() - 1; t >= 0; --t) {
    auto here = block(covariances_, t);
    here = block(filtered_, t);
    if (t + 1 == size() || begins(t + 1)) continue;
    gain.noalias() = block(filtered_, t) * links_.col(t).asDiagonal();
    carried.noalias() = gain * block(covariances_, t + 1);
    cross_.col(t) = -carried.diagonal();
    here.noalias() += carried * gain.transpose();
  }
}

void LaplacePath::find_means(const Emission& emission, const LogMoves& moves) {
  means_.setZero(components_, size());
  Vector u;
  for (Index t = 0; t < size(); ++t) {
    set_points(t);
    emission.look_at(record_[t], evidence_);
    for (Index i = 0; i < 2 * components_ + 1; ++i) {
      u = points_.row(i).transpose();
      laplace_.find_slope(evidence_, logarithms(u));
      means_.col(t) += point_weights_[i] * slope_in(u);
    }
    add_moves(moves, t);
  }
  solve(means_);
  for (Index t = 0; t < size(); ++t) {
    const Vector most = kMostShift * most_deviations(t);
    means_.col(t) = path_.col(t) + means_.col(t).cwiseMax(-most).cwiseMin(most);
  }
}

// Of z, before anything is seen.
Vector LaplacePath::most_deviations(Index t) const {
  const Vector deviations = most_.cwiseSqrt();
  return is_logarithmic_ ? deviations : deviations.cwiseProduct(path_.col(t)) / 3;
}

// Far from the maximum of the likelihood the path can be at a point where H is all but singular.
// Expansions around it say nothing, and a single one would spoil all sums.
void LaplacePath::bound_covariances() {
  Vector parts = Vector::Ones(size());
  for (Index t = 0; t < size(); ++t) {
    auto here = block(covariances_, t);
    const double most = here.diagonal().cwiseQuotient(most_deviations(t).cwiseAbs2()).maxCoeff();
    if (!(most > 1)) continue;
    parts[t] = 1 / std::sqrt(most);
    here *= parts[t] * parts[t];
  }
  for (Index t = 0; t + 1 < size(); ++t) cross_.col(t) *= parts[t] * parts[t + 1];
}

// The expected slope of the moves, by their third derivatives.
void LaplacePath::add_moves(const LogMoves& moves, Index t) {
  for (Index k = 0; k < components_; ++k) {
    const Index at = k * (components_ + 1);
    const double after = covariances_(at, t);
    if (begins(t)) {
      const LogStateTerms terms = first_in_coordinate(moves, k, path_(k, t));
      means_(k, t) += terms.d1 + terms.d3 * after / 2;
      continue;
    }
    const double before = covariances_(at, t - 1);
    const double both = cross_(k, t - 1);
    const LogMoveTerms terms = move_in_coordinate(moves, k, path_(k, t - 1), path_(k, t));
    means_(k, t - 1) +=
        terms.b + (terms.bbb * before + 2 * terms.bba * both + terms.baa * after) / 2;
    means_(k, t) += terms.a + (terms.bba * before + 2 * terms.baa * both + terms.aaa * after) / 2;
  }
}

void LaplacePath::set_points(Index t) {
  const Index pairs = components_;
  points_.rowwise() = path_.col(t).transpose();
  point_weights_.setZero();
  point_weights_[0] = 1;
  factor_.compute(block(covariances_, t));
  if (factor_.info() != Eigen::Success) return;
  const Matrix away = kNear * Matrix(factor_.matrixL()).transpose();
  points_.middleRows(1, pairs) += away;
  points_.middleRows(1 + pairs, pairs) -= away;
  const double second = 1 / (2 * kNear * kNear);
  point_weights_.segment(1, 2 * pairs).setConstant(second);
  point_weights_[0] -= 2 * second * static_cast<double>(pairs);
}

void LaplacePath::add_mean_points(Index t) {
  const Index at = 2 * components_ + 1;
  const auto shift = (means_.col(t) - path_.col(t)).transpose();
  points_.row(at) += kNear * shift;
  points_.row(at + 1) -= kNear * shift;
  point_weights_[at] = 1 / (2 * kNear);
  point_weights_[at + 1] = -1 / (2 * kNear);
}

Statistics LaplacePath::statistics_of(Index first, Index last, const Estimate& estimate,
                                      bool learn_prior) {
  const Emission emission = estimate.emission();
  Statistics out = statistics_for(emission, learn_prior ? estimate.prior.num_statistics() : 0);
  for (PhaseSums& phases : out.phases) phases.recency = 1;
  const std::unique_ptr<EmissionSums> sums = emission.sums();
  const double weight = 1 / static_cast<double>(last - first);
  Matrix activations = Matrix::Ones(points_.rows(), emission.num_columns());
  SharedRows rows(out);
  for (Index t = first; t < last; ++t) {
    set_points(t);
    add_mean_points(t);
    point_weights_ *= weight;
    if (is_logarithmic_) {
      activations.leftCols(components_) = points_.array().exp();
    } else {
      activations.leftCols(components_) = points_.array().cube();
    }
    sums->add_one(activations, emission, point_weights_, record_[t], out);
    if (learn_prior && !begins(t)) add_moves_of(t, estimate.prior, weight, out);
    out.count_observation(weight);
  }
  sums->finish(emission, out);
  rows.gather();
  return out;
}

void LaplacePath::add_moves_of(Index t, const AnyPrior& prior, double weight, Statistics& out) {
  const auto variance_at = [&](Index s) {
    return covariances_.col(s)(Eigen::seq(0, Eigen::last, components_ + 1)).array();
  };
  const auto before = path_.col(t - 1).array();
  const auto after = path_.col(t).array();
  const auto before_shift = means_.col(t - 1).array() - before;
  const auto after_shift = means_.col(t).array() - after;
  const auto both = cross_.col(t - 1).array();
  if (is_logarithmic_) {
    moves_.before = means_.col(t - 1);
    moves_.after = means_.col(t);
    moves_.before_square = before * (before + 2 * before_shift) + variance_at(t - 1);
    moves_.after_square = after * (after + 2 * after_shift) + variance_at(t);
    moves_.product = before * after + before * after_shift + after * before_shift + both;
  } else {
    // Of x = z^3, x^2 = z^6 and x' x, for normal z.
    const Eigen::ArrayXd m = means_.col(t - 1);
    const Eigen::ArrayXd n = means_.col(t);
    const Eigen::ArrayXd v = variance_at(t - 1);
    const Eigen::ArrayXd w = variance_at(t);
    const Eigen::ArrayXd c = both;
    const auto mean = [](const auto& a, const auto& var) { return a.cube() + 3 * a * var; };
    const auto square = [](const auto& a, const auto& var) {
      return a.square().cube() + 15 * a.square().square() * var + 45 * a.square() * var.square() +
             15 * var.cube();
    };
    moves_.before = mean(m, v);
    moves_.after = mean(n, w);
    moves_.before_square = square(m, v);
    moves_.after_square = square(n, w);
    moves_.product = mean(m, v) * mean(n, w) + 9 * c * (m.square() + v) * (n.square() + w) +
                     18 * m * n * c.square() + 6 * c.cube();
    moves_.log_after = 3 * n.log() - 1.5 * w / n.square();
  }
  prior.add_expected_statistics(moves_, weight, as_span(out.s3));
}

}  // namespace headwater
