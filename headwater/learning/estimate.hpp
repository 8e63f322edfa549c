#pragma once

#include "headwater/estimate.hpp"
#include "headwater/m_step_options.hpp"

namespace headwater {

// The same model with a prior of scale 1, its scale moved into the columns of the basis: the form
// in which estimates are reported. An estimate of scale 1, or without a scale, is not changed.
Estimate with_unit_scale(Estimate estimate);

// All numbers of an estimate in one vector, so that they can be averaged alike.
Vector flatten(const Estimate& estimate);
// ... and back. What is held keeps its bits, which a mean of equal numbers would not.
void unflatten(const Vector& flat, const MStepOptions& options, Estimate& estimate);

}  // namespace headwater
