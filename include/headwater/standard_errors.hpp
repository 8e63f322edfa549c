#pragma once

#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/parameter.hpp"

namespace headwater {

// How far the numbers of an estimate may be from the truth by chance: standard deviations, 0 for
// what was held. An entry of the basis that is about zero has a one-sided error.
struct ErrorsOfEstimate {
  Matrix basis;           // as Estimate::basis, background included
  Parameters parameters;  // those of the prior and of the law of the counts whose errors are known
  // As Season::profiles(); a profile whose errors are not known is empty.
  std::vector<Matrix> profiles = {};
};

// Standard errors of the reported estimate (see docs/decisions/54-standard-errors.md).
struct StandardErrors {
  ErrorsOfEstimate robust;  // from how the stream has scattered: right for wrong models too
  ErrorsOfEstimate plain;   // as they would be if the model were right in every respect
  // Whether the numbers were taken together; if not, those of each channel by themselves.
  bool is_full = true;
};

}  // namespace headwater
