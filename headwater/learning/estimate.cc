#include "headwater/learning/estimate.hpp"

namespace headwater {

Vector flatten(const Estimate& estimate) {
  const Parameters parameters = estimate.prior.parameters();
  Index size = estimate.basis.size();
  for (const Parameter& parameter : parameters) size += parameter.value.size();
  Vector flat(size);
  flat.head(estimate.basis.size()) = estimate.basis.reshaped();
  Index at = estimate.basis.size();
  for (const Parameter& parameter : parameters) {
    flat.segment(at, parameter.value.size()) = parameter.value.reshaped();
    at += parameter.value.size();
  }
  return flat;
}

void unflatten(const Vector& flat, const MStepOptions& options, Estimate& estimate) {
  if (!options.hold_basis) estimate.basis.reshaped() = flat.head(estimate.basis.size());
  Index at = estimate.basis.size();
  for (Parameter parameter : estimate.prior.parameters()) {
    parameter.value.reshaped() = flat.segment(at, parameter.value.size());
    at += parameter.value.size();
    if (!options.holds(parameter.name)) estimate.prior.set_parameter(parameter);
  }
}

Estimate with_unit_scale(Estimate estimate) {
  if (!estimate.prior.has_scale()) return estimate;
  const Vector scale = estimate.prior.scale();
  estimate.basis.leftCols(scale.size()) *= scale.asDiagonal();
  estimate.prior.set_scale(Vector::Ones(scale.size()));
  return estimate;
}

}  // namespace headwater
