#pragma once

namespace headwater {

// What became of one observation in a filter.
struct FilterStep {
  double log_predictive = 0;  // log p(y_t | y_1..t-1) under the parameters of the time
  // No state could have given this observation. The law is left as predicted, as if the
  // observation were missing, and log_predictive is -infinity.
  bool impossible = false;
};

}  // namespace headwater
