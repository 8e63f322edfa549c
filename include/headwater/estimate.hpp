#pragma once

#include "headwater/any_prior.hpp"
#include "headwater/emission.hpp"
#include "headwater/export.hpp"

namespace headwater {

// Estimates of the basis (background as the last column, where there is one), of the prior, of the
// law of the counts and of the season.
struct HEADWATER_EXPORT Estimate {
  Matrix basis;
  AnyPrior prior;
  AnyLaw law = {};
  Season season = {};

  Emission emission() const { return {basis, law, season}; }
  bool is_finite() const;  // whether every number of it is finite
  void exchange(StateArchive& archive) {
    archive(basis, prior, law, season);
    archive.expect(is_basis(basis), "a basis with an entry that is negative or not finite");
  }
};

}  // namespace headwater
