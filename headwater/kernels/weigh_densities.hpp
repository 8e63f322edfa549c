#pragma once

#include <span>

namespace headwater {

// Turns log-densities, up to a common summand, into the law that is proportional to the densities
// times the weights: values[i] = w_i exp(values[i]) / sum_j w_j exp(values[j]). False if that sum,
// after the largest value, whatever its weight, was taken off, is not finite or next to nothing;
// then the values mean nothing.
bool weigh_densities(std::span<const double> weights, std::span<double> values);

}  // namespace headwater
