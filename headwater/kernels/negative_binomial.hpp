#pragma once

#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// The channels j of an observation under the negative binomial law, with one number each. rows is
// J x K, row by row: the intensity of channel j is lambda_j(x) = sum_k rows[j K + k] x_k. scales is
// what dispersion and exposure make of it: z_j = scales[j] lambda_j.
struct SoftenedChannels {
  std::span<const double> rows;
  std::span<const double> scales;
};

// For activations x_i in the rows of an n x K block:
//   out[i] -= sum_j weights[j] log(1 + z_j(x_i)),
// each logarithm within 2 ulp of log1p.
void subtract_softened_logs(const Eigen::Ref<const Matrix>& x, const SoftenedChannels& channels,
                            std::span<const double> weights, std::span<double> out);

// Sums over weighted activations, for the M-step. For each channel j, with mu = lambda_j
// exposure_j,
//   losses[j K + k]  += sum_i w_i x(i, k) / (1 + z),
//   bends[j]         += sum_i w_i mu^2 g(z),
//   slopes[j]        += sum_i w_i mu / (1 + z),
//   informations[j]  += sum_i w_i dispersion_information(mu, phi_j, limit_j);
// see negative_binomial_terms.hpp for this function and for g, which is its softening().
struct SoftenedSums {
  std::span<double> losses;
  std::span<double> bends;
  std::span<double> slopes;
  std::span<double> informations;
};
struct DispersedChannels {
  std::span<const double> exposures;
  std::span<const double> dispersions;
  std::span<const double> limits;
};
void add_softened_sums(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                       const SoftenedChannels& channels, const DispersedChannels& dispersed,
                       const SoftenedSums& out);

}  // namespace headwater
