#pragma once

#include <cstddef>
#include <span>

#include "headwater/random/stream.hpp"

namespace headwater {

// Draws from the distributions that the models need. The results do not depend on the compiler (the
// C++ standard does not fix the algorithms of its own distributions). They do depend on the C
// library's log, log1p, exp and cos: if another library rounds these differently, a draw may differ
// in its last bit and, rarely, a rejection may be decided differently. A parameter outside its
// range throws UsageError.

// Rate 1. Uses one uniform number.
double exponential(Generator& generator);

// Mean 0, variance 1. Uses two uniform numbers.
double normal(Generator& generator);

// Unit rate, 0 < shape < infinity. A gamma variable of small shape is often below the smallest
// double and is then returned as 0, with probability near exp(-745 shape): 5e-17 at shape 0.05,
// 6e-4 at 0.01 and about a half at 0.001.
double gamma(Generator& generator, double shape);

// An integer as a double. 0 <= mean < infinity; the result is 0 for mean 0. Results above 2^53 are
// rounded to a double.
double poisson(Generator& generator, double mean);

// Draws index i with probability p_i / sum(p), where p_i >= 0 and 0 < sum(p) < infinity. Never
// draws an index with p_i = 0. Uses one uniform number.
std::size_t categorical(Generator& generator, std::span<const double> probabilities);

// -mean + k log(mean) - log k! for k >= 0 and mean > 0, accurate even if these terms cancel: for k
// within ten standard deviations of the mean, the absolute error is below 1e-12 + 1e-14 sqrt(mean).
double log_poisson_probability(double k, double mean);

// The quantile functions used above, for 0 <= uniform <= 1: the smallest integer whose cumulative
// probability is at least `uniform` (poisson) or exceeds it (categorical). If rounding leaves all
// cumulative probabilities below `uniform`, the last value of positive probability. The Poisson
// terms are summed from exp(-mean), for mean <= 700.
double poisson_quantile(double uniform, double mean);
std::size_t categorical_quantile(double uniform, std::span<const double> probabilities);

}  // namespace headwater
