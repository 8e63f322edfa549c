#pragma once

#include "headwater/learning/m_step.hpp"
#include "headwater/models/any_prior.hpp"

namespace headwater {

// Estimates of the basis (background as the last column, where there is one) and of the prior.
struct Estimate {
  Matrix basis;
  AnyPrior prior;

  void exchange(StateArchive& archive) { archive(basis, prior); }
};

// The same model with a prior of scale 1, its scale moved into the columns of the basis: the form
// in which estimates are reported. An estimate of scale 1, or without a scale, is not changed.
Estimate with_unit_scale(Estimate estimate);

// All numbers of an estimate in one vector, so that they can be averaged alike.
Vector flatten(const Estimate& estimate);
// ... and back. What is held keeps its bits, which a mean of equal numbers would not.
void unflatten(const Vector& flat, const MStepOptions& options, Estimate& estimate);

}  // namespace headwater
