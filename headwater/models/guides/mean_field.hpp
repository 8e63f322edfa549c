#pragma once

#include <cmath>
#include <vector>

#include "headwater/core/cholesky.hpp"
#include "headwater/core/growing.hpp"
#include "headwater/evidence.hpp"

namespace headwater {

// The law of components that take finitely many levels, given one observation, as if they were
// independent: each component's share of the likelihood is taken with all others at their means,
// and the means are brought up to date, one after the other, a few times.
class MeanField {
 public:
  // One component, or several that go together.
  struct Axis {
    Matrix levels;  // S x components
    Vector law;     // of the levels, before the observation
  };

  void fit(const Evidence& evidence, const std::vector<Axis>& axes);

  // out(s) = the log-likelihood at levels.row(s) of one axis, the others at their means, times the
  // part that is left of it when the others are not known.
  void log_profile(Index axis, const Eigen::Ref<const Matrix>& levels, Eigen::Ref<Vector> out);
  // The same for an axis of one component and many levels, all but exactly: computed at a few
  // nodes, ascending, and between them as a log(x + c) - b x goes, which has the slope and the
  // curvature at the mean.
  void log_profile_between(Index axis, const Vector& nodes, const Eigen::Ref<const Vector>& levels,
                           Eigen::Ref<Vector> out);

 private:
  // a log(x + c) - b x.
  struct LogCurve {
    double a, c, b;
    double operator()(double x) const { return a * std::log(x + c) - b * x; }
  };
  LogCurve fit_curve(double x);  // with the slope and the curvature at x
  void take_others(Index axis);  // rows_ and total_: of the axis, and of all others together
  void log_likelihoods(const Eigen::Ref<const Matrix>& levels, Eigen::Ref<Vector> out);
  double update(Index axis, const Axis& of);  // the largest change of a mean
  void temper(const std::vector<Axis>& axes);

  const Evidence* evidence_ = nullptr;
  GrowingMatrix columns_;     // of the basis, in the listed channels
  std::vector<Index> first_;  // component of each axis, and one more: where the next would begin
  Vector means_;              // background included
  Vector variances_;
  GrowingVector intensities_;  // of the listed channels, at the means
  Vector tempered_;            // of each axis

  std::vector<double> rows_;
  Vector total_;
  Matrix points_;
  Vector profile_;
  Forces forces_;
  Vector law_;
  Vector now_;
  GrowingVector floored_;
  Matrix sum_;
  Matrix inverse_;
  Vector curvature_;
  Vector precision_;
  Cholesky factor_;
};

}  // namespace headwater
