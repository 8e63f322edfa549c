#pragma once

#include <span>
#include <vector>

#include "headwater/channels.hpp"

namespace headwater {

// For channels with one count each and an activation x (`stride` numbers, zero beyond the columns):
//   ratios[j] = counts[j] / lambda_j,   lambda_j = sum_k B(channels[j], k) x_k,
//   slopes[k] = sum_j ratios[j] B(channels[j], k).
// The slopes are the derivatives of sum_j counts[j] log lambda_j. The rows are read once. A channel
// of zero intensity has ratio 0.
void poisson_slopes(const PaddedRows& basis, std::span<const Index> channels,
                    std::span<const double> counts, std::span<const double> x,
                    std::span<double> ratios, std::span<double> slopes);

// The same of losses[j] = factors[j] / (1 + scales[j] lambda_j).
void softened_slopes(const PaddedRows& basis, std::span<const Index> channels,
                     std::span<const double> factors, std::span<const double> scales,
                     std::span<const double> x, std::span<double> losses, std::span<double> slopes);

// out[k] = sum_j weights[j] B(channels[j], k)^2, `stride` numbers.
void weighted_squares(const PaddedRows& basis, std::span<const Index> channels,
                      std::span<const double> weights, std::span<double> out);

}  // namespace headwater
