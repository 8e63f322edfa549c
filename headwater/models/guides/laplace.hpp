#pragma once

#include "headwater/core/cholesky.hpp"
#include "headwater/core/growing.hpp"
#include "headwater/evidence.hpp"

namespace headwater {

// The log-likelihood of one observation about a point, as a function of u = log x, where x are the
// activations of the prior's components (a background stays at one). With s_jk = B_jk x_k what
// component k adds to the intensity of listed channel j, gain_j, loss_j and c_j the forces of that
// channel (see Evidence), and total_k the slope of all that is linear,
//
//   slope_k      = sum_j (gain_j - loss_j) s_jk - total_k x_k
//   curvature_kl = sum_j c_j s_jk s_jl + (k = l) max(0, -slope_k).
//
// The curvature is minus the second derivative without what would make it indefinite: where the
// slope is positive it is left out of the diagonal. For many components only the diagonal is taken.
class Laplace {
 public:
  // The largest number of components for which the curvature is a full matrix.
  static constexpr Index kMostFull = 128;

  // Newton's steps, from `start`, towards the maximum of the log-likelihood plus a log-prior of u.
  // add_prior(u, slope, curvature) adds the slope and the curvature of that prior (K x K, or K x 1
  // for its diagonal). The point that is reached need not be the maximum: it only is where the
  // likelihood is looked at.
  template <class AddPrior>
  void fit(const Evidence& evidence, const Vector& start, const AddPrior& add_prior) {
    point_ = start;
    for (int i = 0; i < kMostSteps; ++i) {
      look_around(evidence);
      total_slope_ = slope_;
      total_curvature_ = is_full() ? curvature_ : step_curvature_;
      add_prior(point_, total_slope_, total_curvature_);
      if (make_step() < kSmallStep) break;
    }
    look_around(evidence);
  }

  // Slope, curvature and value at a given point.
  void look_at(const Evidence& evidence, const Eigen::Ref<const Vector>& point) {
    point_ = point;
    look_around(evidence);
  }
  // The slope alone, which takes less.
  void find_slope(const Evidence& evidence, const Eigen::Ref<const Vector>& point) {
    point_ = point;
    find_slope(evidence);
  }
  // The log-likelihood at the point, without the base measure and the rest (see Evidence).
  double value(const Evidence& evidence) const;

  bool is_full() const { return point_.size() <= kMostFull; }
  const Vector& point() const { return point_; }
  const Vector& slope() const { return slope_; }
  const Matrix& curvature() const { return curvature_; }  // K x K, or K x 1: the diagonal

 private:
  // The point only has to be near the mode: the weights of the particles make up for the rest.
  static constexpr int kMostSteps = 8;
  static constexpr double kSmallStep = 0.05;
  // Of log x: a factor of seven. Longer steps overshoot where the curvature changes.
  static constexpr double kLongestStep = 2;

  void look_around(const Evidence& evidence);
  void find_slope(const Evidence& evidence);
  void add_products(const Evidence& evidence, const Eigen::Ref<const Vector>& forces,
                    Vector& out) const;  // out_k += sum_j forces_j s_jk
  double make_step();                    // its length: the largest change of a component

  Vector point_;
  Vector slope_;
  Matrix curvature_;
  // Along the diagonal alone a step is safe with the curvature sum_j gain_j s_jk: it is EM's step.
  Matrix step_curvature_;

  Vector total_slope_;
  Matrix total_curvature_;
  Cholesky factor_;
  Vector activations_;
  GrowingVector intensities_;
  Forces forces_;
  Vector lost_;
  Vector missing_;
  GrowingMatrix shares_;  // s_jk
};

}  // namespace headwater
