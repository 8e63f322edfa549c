#include "headwater/models/guides/gaussian_messages.hpp"

#include <limits>

#include "headwater/kernels/weighted_gram.hpp"

namespace headwater {

namespace {

// Newton's steps towards the mode. Levels are few and bounded, so that six always sufficed.
constexpr int kSteps = 6;
// A component whose level is certain beforehand would have no finite precision.
constexpr double kLeastFactorVariance = 1e-6;
// The mode stays this far above zero, over the largest level: an intensity of zero has no slope.
constexpr double kLeastLevel = 0.02;

}  // namespace

void GaussianMessages::fit(const Evidence& evidence, const Vector& means, const Vector& variances,
                           const Vector& largest) {
  const Index components = means.size();
  const Eigen::Map<const RowMatrix> rows = evidence.rows();
  auto columns = columns_.resize(rows.rows(), components);
  columns = rows.leftCols(components);
  precision_ = variances.cwiseMax(kLeastFactorVariance).cwiseInverse();
  mode_ = means;
  for (int step = 0; step < kSteps; ++step) {
    auto intensities = intensities_.resize(rows.rows());
    intensities.noalias() = columns * mode_;
    if (rows.cols() > components) intensities += rows.col(components);
    intensities = intensities.cwiseMax(std::numeric_limits<double>::min());
    evidence.forces(as_span(intensities), forces_);
    add_up(evidence, columns);
    slope_ -= evidence.total().head(components) + precision_.cwiseProduct(mode_ - means);
    factor_.compute(curvature_);
    factor_.solveInPlace(slope_);
    mode_ = (mode_ + slope_).cwiseMin(largest).cwiseMax(kLeastLevel * largest);
  }
  inverse_.setIdentity(components, components);
  factor_.solveInPlace(inverse_);
  marginal_ = inverse_.diagonal().cwiseInverse();
  precisions_ = (marginal_ - precision_).cwiseMax(0);
  shifts_ = marginal_.cwiseProduct(mode_) - precision_.cwiseProduct(means);
}

// The slope and the curvature of the log-likelihood's listed terms, the prior's precision added.
void GaussianMessages::add_up(const Evidence& evidence, const Eigen::Ref<const Matrix>& columns) {
  const Index components = precision_.size();
  const Index channels = columns.rows();
  if (!forces_.losses.empty()) {
    for (Index j = 0; j < channels; ++j) forces_.gains[j] -= forces_.losses[j];
  }
  const Eigen::Map<const Vector> pull(forces_.gains.data(), channels);
  slope_.setZero(components);
  curvature_.setZero(components, components);
  curvature_.diagonal() = precision_;
  const auto rows_of = [](const auto& matrix, const Stretch& s) {
    return matrix.middleRows(static_cast<Index>(s.first), static_cast<Index>(s.size));
  };
  Reducer::sum(evidence.stretches(), as_span(slope_), [&](const Stretch& s, auto out) {
    Eigen::Map<Vector>(out.data(), components).noalias() +=
        rows_of(columns, s).transpose() *
        pull.segment(static_cast<Index>(s.first), static_cast<Index>(s.size));
  });
  Reducer::sum(evidence.stretches(), as_span(curvature_), [&](const Stretch& s, auto out) {
    add_weighted_gram(rows_of(columns, s), std::span(forces_.curvatures).subspan(s.first, s.size),
                      out.data());
  });
}

}  // namespace headwater
