#include "headwater/learning/m_step_slope.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/learning/estimate.hpp"

namespace headwater {

namespace {

// Relative to the point.
constexpr double kStep = 1e-4;

}  // namespace

MStepSlope::MStepSlope(const MStep& m_step, const Estimate& from, const Statistics& at)
    : m_step_(m_step), from_(from), at_(at), moved_(at) {
  for (const std::span<const double> part : at.sums()) {
    flat_.conservativeResize(flat_.size() + static_cast<Index>(part.size()));
    flat_.tail(static_cast<Index>(part.size())) =
        Eigen::Map<const Vector>(part.data(), static_cast<Index>(part.size()));
  }
}

Vector MStepSlope::along(const Vector& direction) const {
  const double step = kStep / std::max(1.0, relative_length(direction));
  return (after(flat_ + step * direction) - after(flat_ - step * direction)) / (2 * step);
}

double MStepSlope::relative_length(const Vector& direction) const {
  const Index ratios = at_.s1.size() + at_.s2.size();
  double length = 0;
  for (Index i = 0; i < ratios; ++i) {
    if (flat_[i] > 0) length = std::max(length, std::abs(direction[i]) / flat_[i]);
  }
  Index begin = ratios;
  for (const Index size : {at_.s3.size(), at_.s4.size(), at_.unseen.size()}) {
    if (size > 0) {
      const double scale = flat_.segment(begin, size).cwiseAbs().maxCoeff();
      const double most = direction.segment(begin, size).cwiseAbs().maxCoeff();
      if (scale > 0) length = std::max(length, most / scale);
    }
    begin += size;
  }
  return length;
}

Vector MStepSlope::after(const Vector& sums) const {
  moved_.set_sums(sums);
  Estimate estimate = from_;
  m_step_.update_basis(moved_, estimate.basis);
  m_step_.update_law(moved_, estimate.law);
  m_step_.update_prior(moved_, estimate.prior);
  return flatten(with_unit_scale(std::move(estimate)));
}

}  // namespace headwater
