#pragma once

#include <span>

namespace headwater {

// Turns log-densities, known up to an additive constant, into probabilities proportional to weights
// times densities: values[i] = w_i exp(values[i]) / sum_j w_j exp(values[j]). The largest value
// (even one of weight zero) is subtracted before the exponentials. Returns false if the sum is then
// not finite or nearly zero; the values are then unspecified.
bool weigh_densities(std::span<const double> weights, std::span<double> values);

}  // namespace headwater
