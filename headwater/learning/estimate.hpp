#pragma once

#include "headwater/estimate.hpp"
#include "headwater/m_step_options.hpp"

namespace headwater {

// The same model with a prior of scale 1, its scale moved into the columns of the basis: the form
// in which estimates are reported. An estimate of scale 1, or without a scale, is not changed.
Estimate with_unit_scale(Estimate estimate);
// The same model with columns of these sums, their scale moved into the prior, which must have one.
// The background, and columns of zeros, stay as they are. In this form x times the sum are expected
// counts: a unit that stays the same if the basis changes.
Estimate with_column_sums(Estimate estimate, const Vector& sums);

// All numbers of an estimate in one vector, so that they can be averaged alike.
Vector flatten(const Estimate& estimate);
// ... and back. What is held keeps its bits, which a mean of equal numbers would not.
void unflatten(const Vector& flat, const MStepOptions& options, Estimate& estimate);

}  // namespace headwater
