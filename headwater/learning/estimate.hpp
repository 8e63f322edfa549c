#pragma once

#include "headwater/emission/emission.hpp"
#include "headwater/learning/m_step.hpp"
#include "headwater/models/any_prior.hpp"

namespace headwater {

// Estimates of the basis (background as the last column, where there is one), of the prior and of
// the law of the counts.
struct Estimate {
  Matrix basis;
  AnyPrior prior;
  AnyLaw law = {};

  Emission emission() const { return {basis, law}; }
  bool is_finite() const;  // whether every number of it is finite
  void exchange(StateArchive& archive) { archive(basis, prior, law); }
};

// The same model with a prior of scale 1, its scale moved into the columns of the basis: the form
// in which estimates are reported. An estimate of scale 1, or without a scale, is not changed.
Estimate with_unit_scale(Estimate estimate);

// All numbers of an estimate in one vector, so that they can be averaged alike.
Vector flatten(const Estimate& estimate);
// ... and back. What is held keeps its bits, which a mean of equal numbers would not.
void unflatten(const Vector& flat, const MStepOptions& options, Estimate& estimate);

}  // namespace headwater
