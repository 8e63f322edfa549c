#pragma once

#include <cstddef>
#include <span>

#include "headwater/random/stream.hpp"

namespace headwater {

// Draws from the distributions that the models need, the same bits whatever the compiler (the C++
// standard leaves the algorithms of its own distributions open). They rest on the C library's log,
// log1p, exp and cos: where another one rounds these differently, a draw may differ in its last
// bit and, rarely, in what is rejected. A parameter outside its range throws UsageError.

// Rate 1. One uniform number.
double exponential(Generator& generator);

// Mean 0, variance 1. Two uniform numbers.
double normal(Generator& generator);

// Unit rate, 0 < shape < infinity. A gamma variable of a small shape is often less than the
// smallest double, and then comes out as 0: with probability near exp(-745 shape), which is 5e-17
// at shape 0.05, 6e-4 at 0.01 and about a half at 0.001.
double gamma(Generator& generator, double shape);

// A whole number as a double; 0 <= mean < infinity, and 0 for mean 0. Beyond 2^53, where not every
// whole number is a double, the nearest that are.
double poisson(Generator& generator, double mean);

// The index i with probability p_i / sum(p), p_i >= 0 and 0 < sum(p) < infinity; never one whose
// p_i is zero. One uniform number.
std::size_t categorical(Generator& generator, std::span<const double> probabilities);

// -mean + k log(mean) - log k! for k >= 0 and mean > 0, also where these terms cancel: for k within
// ten standard deviations of the mean, the absolute error is below 1e-12 + 1e-14 sqrt(mean).
double log_poisson_probability(double k, double mean);

// The two inverse distribution functions behind them, for 0 <= uniform <= 1: the smallest whole
// number up to which the probabilities add up to at least (poisson), or more than (categorical),
// `uniform`. Where all of them, rounded, add up to less, the last that counts. The Poisson terms
// are added one by one from exp(-mean), for mean <= 700.
double poisson_quantile(double uniform, double mean);
std::size_t categorical_quantile(double uniform, std::span<const double> probabilities);

}  // namespace headwater
