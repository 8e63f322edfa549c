#pragma once

#include <span>

namespace headwater {

// Turns log-densities, up to a common summand, into the law that is proportional to the densities
// times the weights: values[i] = w_i exp(values[i]) / sum_j w_j exp(values[j]). False if that sum
// is not positive and finite after the largest value, whatever its weight, was taken off; then the
// values mean nothing.
bool weigh_densities(std::span<const double> weights, std::span<double> values);

}  // namespace headwater
