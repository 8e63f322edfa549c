#include "headwater/models/guides/gaussian_messages.hpp"

#include <Eigen/Cholesky>
#include <limits>

namespace headwater {

namespace {

constexpr int kSteps = 6;
constexpr double kLeastFactorVariance = 1e-6;
// The mode stays this far above zero, over the largest level: an intensity of zero has no slope.
constexpr double kLeastLevel = 0.02;

}  // namespace

void GaussianMessages::fit(const SeenChannels& seen, const Vector& means, const Vector& variances,
                           const Vector& largest) {
  const Index components = means.size();
  const auto channels = static_cast<Index>(seen.counts().size());
  const Eigen::Map<const RowMatrix> rows(seen.rows().data(), channels, seen.total().size());
  const auto columns = rows.leftCols(components);
  Vector background = Vector::Zero(channels);
  if (rows.cols() > components) background = rows.col(components);
  const Eigen::Map<const Vector> counts(seen.counts().data(), channels);
  const Vector precision = variances.cwiseMax(kLeastFactorVariance).cwiseInverse();

  Vector mode = means;
  Eigen::LLT<Matrix> factor;
  for (int step = 0; step < kSteps; ++step) {
    const Vector intensities =
        (columns * mode + background).cwiseMax(std::numeric_limits<double>::min());
    const Vector ratio = counts.cwiseQuotient(intensities);
    const Matrix scaled =
        (ratio.array().sqrt() / intensities.array().sqrt()).matrix().asDiagonal() * columns;
    Matrix sum = precision.asDiagonal();
    sum.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    const Vector slope = columns.transpose() * ratio - seen.total().head(components) -
                         precision.cwiseProduct(mode - means);
    factor.compute(sum);
    mode = (mode + factor.solve(slope)).cwiseMin(largest).cwiseMax(kLeastLevel * largest);
  }
  const Vector marginal =
      factor.solve(Matrix::Identity(components, components)).diagonal().cwiseInverse();
  precisions_ = (marginal - precision).cwiseMax(0);
  shifts_ = marginal.cwiseProduct(mode) - precision.cwiseProduct(means);
}

}  // namespace headwater
