#pragma once

// A hurdle is passed if a negative binomial count of mean mu and dispersion phi is 1 or more (a
// Poisson count for phi = 0). With z = phi mu and s = (1 + z)^(-1 / phi), which is exp(-mu) for
// phi = 0, that has the probability 1 - s. No function here loses digits where mu or phi is small.
namespace headwater::hurdle {

// The mean of a count beyond the first stays within this range. Never 0: a count of 2 is always
// possible.
inline constexpr double kLeastExcess = 1e-6;
inline constexpr double kLargestExcess = 1e6;

double presence(double mu, double phi);      // 1 - s
double log_presence(double mu, double phi);  // its logarithm

// The expectation of the gamma variable epsilon, of mean 1 and variance phi, that multiplies mu:
// given that the hurdle was not passed, 1 / (1 + z); given that it was,
//   (1 - s / (1 + z)) / (1 - s).
double level_if_silent(double mu, double phi);
double level_if_present(double mu, double phi);
// ... and its variance, given that the hurdle was passed:
//   (1 + phi) (1 - s / (1 + z)^2) / (1 - s) - level_if_present^2.
double level_variance_if_present(double mu, double phi);

// What whether the hurdle was passed says about mu: s / ((1 + z)^2 (1 - s)).
double information(double mu, double phi);

// log P(y) beyond the hurdle, for a count y > 0 of which the part beyond 1 has a geometric law of
// mean x: (1 / (1 + x)) (x / (1 + x))^(y - 1). Below 1 a count is as good as 1.
double log_beyond(double y, double excess);

}  // namespace headwater::hurdle
