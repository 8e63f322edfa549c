#pragma once

#include <span>

namespace headwater {

// Turns log-weights, up to a common summand, into weights that sum to one, and the log-weights into
// their logarithms. Returns the log of the sum that they were divided by; -infinity if none was
// positive, and then nothing is changed but what is not finite: a log-weight that is NaN or
// +infinity counts as -infinity. A weight below about 1e-308 of the largest is less accurate, and 0
// below 1e-323 of it.
//
// effective_size, if not null, is set to 1 / sum w^2, unless -infinity is returned.
double normalise_log_weights(std::span<double> log_weights, std::span<double> weights,
                             double* effective_size = nullptr);

}  // namespace headwater
