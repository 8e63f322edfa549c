#include "headwater/learning/estimate.hpp"

#include "headwater/reducer.hpp"

namespace headwater {

namespace {

// Calls visit(parameter, set) for the parameters of the prior and of the law; set(parameter) puts a
// new value in place.
template <class SomeEstimate, class Visit>
void for_each_parameter(SomeEstimate& estimate, const Visit& visit) {
  for (const Parameter& parameter : estimate.prior.parameters()) visit(parameter, estimate.prior);
  for (const Parameter& parameter : estimate.law.parameters()) visit(parameter, estimate.law);
}

}  // namespace

bool Estimate::is_finite() const {
  bool finite = basis.allFinite();
  for_each_parameter(*this, [&](const Parameter& parameter, const auto&) {
    finite = finite && parameter.value.allFinite();
  });
  return finite;
}

Vector flatten(const Estimate& estimate) {
  Index size = estimate.basis.size();
  for_each_parameter(
      estimate, [&](const Parameter& parameter, const auto&) { size += parameter.value.size(); });
  Vector flat(size);
  flat.head(estimate.basis.size()) = estimate.basis.reshaped();
  Index at = estimate.basis.size();
  for_each_parameter(estimate, [&](const Parameter& parameter, const auto&) {
    flat.segment(at, parameter.value.size()) = parameter.value.reshaped();
    at += parameter.value.size();
  });
  return flat;
}

void unflatten(const Vector& flat, const MStepOptions& options, Estimate& estimate) {
  if (!options.hold_basis) estimate.basis.reshaped() = flat.head(estimate.basis.size());
  Index at = estimate.basis.size();
  for_each_parameter(estimate, [&](Parameter parameter, auto& owner) {
    parameter.value.reshaped() = flat.segment(at, parameter.value.size());
    at += parameter.value.size();
    if (!options.holds(parameter.name)) owner.set_parameter(parameter);
  });
}

Estimate with_unit_scale(Estimate estimate) {
  if (!estimate.prior.has_scale()) return estimate;
  const Vector scale = estimate.prior.scale();
  estimate.basis.leftCols(scale.size()) *= scale.asDiagonal();
  estimate.prior.set_scale(Vector::Ones(scale.size()));
  return estimate;
}

Estimate with_column_sums(Estimate estimate, const Vector& sums) {
  Vector scale = estimate.prior.scale();
  const Vector sums_now = column_sums(estimate.basis);
  for (Index k = 0; k < scale.size(); ++k) {
    const double sum = sums_now[k];
    if (!(sum > 0 && sums[k] > 0)) continue;
    estimate.basis.col(k) *= sums[k] / sum;
    scale[k] *= sum / sums[k];
  }
  estimate.prior.set_scale(scale);
  return estimate;
}

}  // namespace headwater
