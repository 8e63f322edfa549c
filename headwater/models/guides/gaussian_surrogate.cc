#include "headwater/models/guides/gaussian_surrogate.hpp"

#include <cmath>

namespace headwater {

namespace {

// Of the curvature, as much is used: a likelihood that is a little wider than the true one keeps
// the weights bounded where the other would not.
constexpr double kTempered = 0.9;

// Room for a block of particles, a thread's own.
States room(Index rows, Index columns, int which) {
  thread_local Matrix rooms[2];
  Matrix& mine = rooms[which];
  if (mine.rows() < rows || mine.cols() != columns) mine.resize(rows, columns);
  return mine.topRows(rows);
}

}  // namespace

void GaussianSurrogate::fit(const Evidence& evidence, const Vector& predicted_mean,
                            const Matrix& predicted_precision, const Vector& variance) {
  const Index components = predicted_mean.size();
  const bool is_full = uses_full(components);
  laplace_.fit(evidence, predicted_mean, [&](const Vector& u, Vector& slope, Matrix& curvature) {
    if (is_full) {
      away_ = u - predicted_mean;
      slope.noalias() -= predicted_precision * away_;
    } else {
      slope.array() -= predicted_precision.col(0).array() * (u - predicted_mean).array();
    }
    curvature += predicted_precision;
  });
  slope_ = laplace_.slope();
  curvature_ = kTempered * laplace_.curvature();
  precision_ = variance.cwiseInverse();
  log_determinant_ = variance.array().log().sum();
  if (is_full) {
    sum_ = curvature_;
    sum_.diagonal() += precision_;
    factor_.compute(sum_);
    log_determinant_ += 2 * factor_.matrixLLT().diagonal().array().log().sum();
  } else {
    root_ = (curvature_.col(0) + precision_).cwiseSqrt();
    log_determinant_ += 2 * root_.array().log().sum();
  }
}

void GaussianSurrogate::solve_first(States b) const {
  if (root_.size() > 0) {
    b.array().rowwise() /= root_.transpose().array();
  } else {
    factor_.matrixL().transpose().solveInPlace<Eigen::OnTheRight>(b);
  }
}

void GaussianSurrogate::solve_second(States b) const {
  if (root_.size() > 0) {
    b.array().rowwise() /= root_.transpose().array();
  } else {
    factor_.matrixL().solveInPlace<Eigen::OnTheRight>(b);
  }
}

void GaussianSurrogate::centre(ConstStates means, States out) const {
  for (Index k = 0; k < means.cols(); ++k) {
    out.col(k).array() = (means.col(k).array() - laplace_.point()[k]) * precision_[k] + slope_[k];
  }
  solve_first(out);
}

// With d = mean - p and w = L^-1 (d / variance + h), the integral is
//   exp(w'w / 2 - sum_k d_k^2 / variance_k / 2) / sqrt(det(L L' diag(variance))).
void GaussianSurrogate::log_worths(ConstStates means, Eigen::Ref<Vector> out) const {
  States w = room(means.rows(), means.cols(), 0);
  centre(means, w);
  out = (w.rowwise().squaredNorm().array() - log_determinant_) / 2;
  for (Index k = 0; k < means.cols(); ++k) {
    out.array() -= precision_[k] / 2 * (means.col(k).array() - laplace_.point()[k]).square();
  }
}

void GaussianSurrogate::draw(ConstStates means, ConstStates normals, States next) const {
  centre(means, next);
  next += normals;
  solve_second(next);
  next.rowwise() += laplace_.point().transpose();
}

// A standard normal variable z under the law of the move is L'(u - p) - w; a rotation of it
// towards another one leaves the law as it is [Neal1998].
void GaussianSurrogate::draw_near(ConstStates means, ConstStates normals, double step,
                                  ConstStates states, States next) const {
  States w = room(means.rows(), means.cols(), 0);
  States z = room(means.rows(), means.cols(), 1);
  centre(means, w);
  next = states.rowwise() - laplace_.point().transpose();
  if (root_.size() > 0) {
    z = next.array().rowwise() * root_.transpose().array();
  } else {
    z.noalias() = next * factor_.matrixL();
  }
  next = w + std::sqrt(1 - step * step) * (z - w) + step * normals;
  solve_second(next);
  next.rowwise() += laplace_.point().transpose();
}

void GaussianSurrogate::log_values(ConstStates states, Eigen::Ref<Vector> out) const {
  States from_point = room(states.rows(), states.cols(), 0);
  States product = room(states.rows(), states.cols(), 1);
  from_point = states.rowwise() - laplace_.point().transpose();
  if (root_.size() > 0) {
    product = from_point.array().rowwise() * curvature_.col(0).transpose().array();
  } else {
    product.noalias() = from_point * curvature_;
  }
  out.noalias() = from_point * slope_;
  out -= from_point.cwiseProduct(product).rowwise().sum() / 2;
}

}  // namespace headwater
