#include "headwater/models/guides/laplace.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "headwater/kernels/weighted_gram.hpp"

namespace headwater {

namespace {

auto part_of(const Eigen::Map<const Matrix>& rows, const Stretch& s) {
  return rows.middleRows(static_cast<Index>(s.first), static_cast<Index>(s.size));
}

}  // namespace

void Laplace::find_slope(const Evidence& evidence) {
  const Index components = point_.size();
  const Eigen::Map<const RowMatrix> rows = evidence.rows();
  const Index channels = rows.rows();
  activations_ = point_.array().exp();

  auto intensities = intensities_.resize(channels);
  intensities.noalias() = rows.leftCols(components) * activations_;
  if (rows.cols() > components) intensities += rows.col(components);
  intensities = intensities.cwiseMax(std::numeric_limits<double>::min());
  evidence.forces(as_span(intensities), forces_);
  const Eigen::Map<const Vector> gains(forces_.gains.data(), channels);
  auto shares = shares_.resize(channels, components);
  shares.noalias() = rows.leftCols(components) * activations_.asDiagonal();

  slope_.setZero(components);
  add_products(evidence, gains, slope_);
  if (!is_full()) step_curvature_ = slope_;
  if (!forces_.losses.empty()) {
    lost_.setZero(components);
    add_products(evidence, Eigen::Map<const Vector>(forces_.losses.data(), channels), lost_);
    slope_ -= lost_;
  }
  slope_.array() -= evidence.total().head(components).array() * activations_.array();
}

void Laplace::look_around(const Evidence& evidence) {
  find_slope(evidence);
  const Index components = point_.size();
  const Eigen::Map<const Vector> curvatures(forces_.curvatures.data(), shares_.rows());
  missing_ = (-slope_).cwiseMax(0);

  if (is_full()) {
    curvature_.setZero(components, components);
    Reducer::sum(evidence.stretches(), as_span(curvature_), [&](const Stretch& s, auto out) {
      add_weighted_gram(part_of(std::as_const(shares_).view(), s),
                        std::span(forces_.curvatures).subspan(s.first, s.size), out.data());
    });
    curvature_.triangularView<Eigen::StrictlyUpper>() = curvature_.transpose();
    curvature_.diagonal() += missing_;
  } else {
    curvature_.setZero(components, 1);
    Reducer::sum(evidence.stretches(), as_span(curvature_), [&](const Stretch& s, auto out) {
      const auto part = part_of(std::as_const(shares_).view(), s);
      const auto weights =
          curvatures.segment(static_cast<Index>(s.first), static_cast<Index>(s.size));
      for (Index k = 0; k < components; ++k) {
        out[static_cast<std::size_t>(k)] += part.col(k).cwiseAbs2().dot(weights);
      }
    });
    curvature_ += missing_;
    step_curvature_ += missing_;
  }
}

void Laplace::add_products(const Evidence& evidence, const Eigen::Ref<const Vector>& forces,
                           Vector& out) const {
  Reducer::sum(evidence.stretches(), as_span(out), [&](const Stretch& s, auto sums) {
    Eigen::Map<Vector>(sums.data(), out.size()).noalias() +=
        part_of(std::as_const(shares_).view(), s).transpose() *
        forces.segment(static_cast<Index>(s.first), static_cast<Index>(s.size));
  });
}

double Laplace::value(const Evidence& evidence) const {
  const Vector& total = evidence.total();
  double linear = total.head(point_.size()).dot(activations_);
  if (total.size() > point_.size()) linear += total[point_.size()];
  return evidence.value({intensities_.data(), static_cast<std::size_t>(intensities_.size())}) -
         linear;
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
