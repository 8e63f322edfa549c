#pragma once

#include <span>

namespace headwater {

// The steps of normalise_log_weights(), for weights that are worked on in parts.
//
// Replaces log-weights that are NaN or +infinity by -infinity. Returns the largest.
double make_log_weights_valid(std::span<double> log_weights);
struct WeightSums {
  double sum = 0;
  double sum_of_squares = 0;
};
// weights = exp(log_weights - largest), of which the sums are returned.
WeightSums exponentials_of(std::span<const double> log_weights, double largest,
                           std::span<double> weights);
// Subtracts log_sum from the log-weights and divides the weights by sum.
void divide_weights(std::span<double> log_weights, double log_sum, std::span<double> weights,
                    double sum);

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
