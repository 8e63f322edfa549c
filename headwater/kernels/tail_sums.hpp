#pragma once

#include <span>

namespace headwater {

// Sums of the probabilities of counts under several laws at a time: negative binomial ones of one
// dispersion phi, for which
//   p(k + 1) / p(k) = factor (1 + k phi) / (k + 1),
// Poisson's for phi = 0. Each law has its own factor >= 0. y is a whole number.

// at: in, p(0); out, p(y). below: out, p(0) + ... + p(y - 1).
void climb_from_zero(double y, double phi, std::span<const double> factors, std::span<double> at,
                     std::span<double> below);

// above = p(y + 1) + p(y + 2) + ..., from at = p(y), up to a part of 1e-12. Meant for laws whose
// mean is below y; with at = 0, the sum is 0.
void sum_above(double y, double phi, std::span<const double> factors, std::span<const double> at,
               std::span<double> above);

// below = p(0) + ... + p(y - 1), from at = p(y), up to a part of 1e-12. Meant for laws whose mean
// is above y; with at = 0, the sum is 0.
void sum_below(double y, double phi, std::span<const double> factors, std::span<const double> at,
               std::span<double> below);

// A mixture of few counts' laws, in one pass over them.
struct MixedSums {
  double below = 0;   // sum of weight (p(0) + ... + p(y - 1))
  double at = 0;      // sum of weight p(y)
  double weight = 0;  // of all laws
  double least = 0;   // of the factors, and 0
  double most = 0;    // of the factors
};

// densities: out, p(y) of each law. log_zero: log p(0) of each law; empty: minus the factors, as
// for Poisson's laws.
MixedSums mix_from_zero(double y, double phi, std::span<const double> factors,
                        std::span<const double> log_zero, std::span<const double> weights,
                        std::span<double> densities);

}  // namespace headwater
