#include "headwater/models/guides/laplace.hpp"

#include <algorithm>
#include <limits>

namespace headwater {

void Laplace::look_at(const SeenChannels& seen) {
  const Index components = point_.size();
  const auto channels = static_cast<Index>(seen.counts().size());
  const Eigen::Map<const RowMatrix> rows(seen.rows().data(), channels, seen.total().size());
  const Eigen::Map<const Vector> counts(seen.counts().data(), channels);
  activations_ = point_.array().exp();

  intensities_.noalias() = rows.leftCols(components) * activations_;
  if (rows.cols() > components) intensities_ += rows.col(components);
  intensities_ = intensities_.cwiseMax(std::numeric_limits<double>::min());
  shares_ = rows.leftCols(components) * activations_.asDiagonal();
  shares_.array().colwise() *= counts.array().sqrt() / intensities_.array();

  slope_.noalias() = shares_.transpose() * counts.cwiseSqrt();
  if (!is_full()) step_curvature_ = slope_;
  slope_.array() -= seen.total().head(components).array() * activations_.array();
  const Vector missing = (-slope_).cwiseMax(0);
  if (is_full()) {
    curvature_.setZero(components, components);
    if (channels > 0) {
      curvature_.selfadjointView<Eigen::Lower>().rankUpdate(shares_.transpose());
    }
    curvature_.triangularView<Eigen::StrictlyUpper>() = curvature_.transpose();
    curvature_.diagonal() += missing;
  } else {
    curvature_ = shares_.colwise().squaredNorm().transpose();
    curvature_ += missing;
    step_curvature_ += missing;
  }
}

double Laplace::make_step() {
  if (is_full()) {
    factor_.compute(total_curvature_);
    factor_.solveInPlace(total_slope_);
  } else {
    total_slope_.array() /= total_curvature_.col(0).array();
  }
  const double length = total_slope_.cwiseAbs().maxCoeff();
  if (!(length < std::numeric_limits<double>::infinity())) return 0;
  point_ += total_slope_ * std::min(1.0, kLongestStep / std::max(length, kSmallStep));
  return length;
}

}  // namespace headwater
