#pragma once

#include <span>

namespace headwater {

// Normalises log-weights, which are known up to an additive constant: `weights` then sum to one,
// and `log_weights` are their logarithms. Returns the log of the normalising sum. A log-weight that
// is NaN or +infinity counts as -infinity. If no weight is positive, returns -infinity and changes
// nothing but those invalid values. A weight below about 1e-308 times the largest is less accurate,
// and below 1e-323 times the largest it is 0.
//
// effective_size, if not null, is set to 1 / sum w^2, unless -infinity is returned.
double normalise_log_weights(std::span<double> log_weights, std::span<double> weights,
                             double* effective_size = nullptr);

}  // namespace headwater
