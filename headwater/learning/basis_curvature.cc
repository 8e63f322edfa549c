#include "headwater/learning/basis_curvature.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

#include "headwater/kernels/weighted_gram.hpp"
#include "headwater/learning/activation_law.hpp"

namespace headwater {

namespace {

constexpr Index kCurvatureDraws = 512;
constexpr Index kMostCells = Index{1} << 20;

Matrix with_ones(const Matrix& x, Index num_columns) {
  Matrix all = Matrix::Ones(x.rows(), num_columns);
  all.leftCols(x.cols()) = x;
  return all;
}

// E[x loss_m(x)] over the draws x.
Vector mean_losses(const AnyLaw& law, Index channel, const Matrix& x, const Vector& intensity) {
  Vector losses(intensity.size());
  for (Index i = 0; i < losses.size(); ++i) {
    losses[i] = law->expected_loss(channel, intensity[i]);
  }
  return x.transpose() * losses / static_cast<double>(x.rows());
}

}  // namespace

bool BasisCurvature::is_affordable(Index num_channels, Index num_components) {
  return num_channels * num_components * num_components <= kMostCells;
}

void BasisCurvature::measure(const Estimate& estimate, double ridge) {
  const Matrix& basis = estimate.basis;
  const Matrix x = with_ones(draw_activations(estimate.prior, kCurvatureDraws), basis.cols());
  const bool losses_are_one = estimate.law->expected_losses_are_one();
  Vector mean = x.colwise().mean();
  // The same, rounded as a law's losses are.
  if (losses_are_one && !estimate.law->has_plain_losses()) {
    mean = x.transpose() * Vector::Ones(x.rows()) / static_cast<double>(x.rows());
  }
  longer_.resize(static_cast<std::size_t>(basis.rows()));
  // Outside the loop, so that no channel allocates.
  Vector intensity(kCurvatureDraws);
  Vector share(kCurvatureDraws);
  Vector complete(basis.cols());
  Matrix information(basis.cols(), basis.cols());
  Eigen::LDLT<Matrix> factor(basis.cols());
  for (Index m = 0; m < basis.rows(); ++m) {
    intensity.noalias() = x * basis.row(m).transpose();
    estimate.law->information(m, as_span(intensity), as_span(share));
    share /= static_cast<double>(kCurvatureDraws);
    complete = mean;
    if (!losses_are_one) complete = mean_losses(estimate.law, m, x, intensity);
    complete.array() /= basis.row(m).transpose().array();
    // An activation that no draw has tells nothing: the channel is left to EM.
    Matrix& longer = longer_[static_cast<std::size_t>(m)];
    longer.resize(0, 0);
    if (!complete.allFinite() || !(complete.minCoeff() > 0)) continue;
    information.setZero();  // of which the lower triangle is filled and read
    add_weighted_gram(x, as_span(share), information.data());
    information.diagonal() += ridge * complete;
    longer = ((1 + ridge) * complete).asDiagonal();
    factor.compute(information);
    factor.solveInPlace(longer);
    if (!longer.allFinite()) longer.resize(0, 0);
  }
}

bool BasisCurvature::fits(const Matrix& basis) const {
  const auto is_right = [&](const Matrix& longer) {
    return longer.size() == 0 ||
           (longer.rows() == basis.cols() && longer.cols() == basis.cols() && longer.allFinite());
  };
  return static_cast<Index>(longer_.size()) == basis.rows() &&
         std::ranges::all_of(longer_, is_right);
}

void BasisCurvature::lengthen_step(const Matrix& before, Matrix& basis) const {
  Vector step(basis.cols());
  for (Index m = 0; m < basis.rows(); ++m) {
    if (longer_[m].size() == 0) continue;
    step.noalias() = longer_[m] * (basis.row(m) - before.row(m)).transpose();
    for (Index k = 0; k < basis.cols(); ++k) {
      const double old = before(m, k);
      if (basis(m, k) == old) continue;  // there was no evidence on it
      const double least = std::min(basis(m, k), old / 2);
      const double most = std::max(basis(m, k), 2 * old);
      basis(m, k) = std::clamp(old + step[k], least, most);
    }
  }
}

}  // namespace headwater
