#pragma once

#include <Eigen/Cholesky>

#include "headwater/models/observation.hpp"

namespace headwater {

// The log-likelihood of one observation about a point, as a function of u = log x, x the
// activations of the prior's components (a background stays at one). With rho_jk the share of
// component k in the intensity of channel j and c_k the sum of its column over the channels seen,
//
//   slope_k      = sum_j y_j rho_jk - c_k x_k
//   curvature_kl = sum_j y_j rho_jk rho_jl + (k = l) max(0, -slope_k),
//
// which is minus the second derivative, but for what would make that indefinite: where the slope
// is positive it is left out of the diagonal. Channels at zero enter by c alone. Where there are
// many components only the diagonal is taken.
class Laplace {
 public:
  // The largest number of components for which the curvature is a full matrix.
  static constexpr Index kMostFull = 128;

  // Newton's steps, from `start`, towards the maximum of the log-likelihood plus a log-prior of u.
  // add_prior(u, slope, curvature) adds the slope and the curvature of that prior (K x K, or K x 1
  // for its diagonal). The point that is reached need not be the maximum: it only is where the
  // likelihood is looked at.
  template <class AddPrior>
  void fit(const SeenChannels& seen, const Vector& start, const AddPrior& add_prior) {
    point_ = start;
    for (int i = 0; i < kMostSteps; ++i) {
      look_at(seen);
      total_slope_ = slope_;
      total_curvature_ = is_full() ? curvature_ : step_curvature_;
      add_prior(point_, total_slope_, total_curvature_);
      if (make_step() < kSmallStep) break;
    }
    look_at(seen);
  }

  bool is_full() const { return point_.size() <= kMostFull; }
  const Vector& point() const { return point_; }
  const Vector& slope() const { return slope_; }
  const Matrix& curvature() const { return curvature_; }  // K x K, or K x 1: the diagonal

 private:
  static constexpr int kMostSteps = 8;
  static constexpr double kSmallStep = 0.05;
  static constexpr double kLongestStep = 2;

  void look_at(const SeenChannels& seen);
  double make_step();  // its length: the largest change of a component

  Vector point_;
  Vector slope_;
  Matrix curvature_;
  // Along the diagonal alone a step is safe with sum_j y_j rho_jk in place of y_j rho_jk^2: it is
  // what EM would do.
  Matrix step_curvature_;

  Vector total_slope_;
  Matrix total_curvature_;
  Eigen::LLT<Matrix> factor_;
  Vector activations_;
  Vector intensities_;
  Matrix shares_;  // sqrt(y_j) rho_jk
};

}  // namespace headwater
