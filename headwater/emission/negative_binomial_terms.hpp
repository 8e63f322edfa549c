#pragma once

#include "headwater/matrix.hpp"

// The negative binomial law in terms of its mean mu and its dispersion phi >= 0, so that the
// variance is mu + phi mu^2. With z = phi mu,
//   log p(y) = rising_logs(y, phi) - log y! + y log mu - (y + 1 / phi) log(1 + z).
// Every function here is continuous at phi = 0, where the law is Poisson's, and loses no digits
// near it.
namespace headwater::negative_binomial {

// Dispersions below this are 0: the terms of a cell change by no more than phi (y^2 + mu^2) / 2.
inline constexpr double kLeastDispersion = 1e-9;
// A count of mean 1 is then above zero once in 100,000 times.
inline constexpr double kLargestDispersion = 1e6;

// sum_{j < y} log(1 + j phi) = log Gamma(y + r) - log Gamma(r) - y log r, with r = 1 / phi.
double rising_logs(double y, double phi);
// Its derivative in phi: sum_{j < y} j / (1 + j phi).
double rising_slope(double y, double phi);

// (1 / phi) log(1 + phi mu): mu for phi = 0.
double softened(double mu, double phi);
// g(z) = (log(1 + z) - z / (1 + z)) / z^2, which is 1/2 at 0: d softened / d phi = -mu^2 g(z).
double softening(double z);

// d log p / d phi = rising_slope(y, phi) + mu^2 g(z) - y mu / (1 + z).
double dispersion_score(double y, double mu, double phi);

// What stands for the expectation of -d^2 log p / d phi^2:
//   (mu^2 / 2) / (1 + phi + 2 z + z^2 / limit).
// It is right for phi -> 0, for mu -> 0, and for mu -> infinity, where the count tells the gamma
// variable behind it. In between it is too large by up to 5 times; steps are then shorter.
double dispersion_information(double mu, double phi, double limit);
// What is added to that, so that a count asks for little more dispersion than there is: by the
// score of the count alone, S = rising_slope(y, phi) - y mu / (1 + z), max(S, 0) / (1 + phi). It
// then asks for phi + 1 + phi at most, by S over the information. Where a mean is far too small,
// dispersion_information() is next to nothing, and a single count would ask for millions. The
// expectation of what is added is that information or less, and next to nothing for means beyond 1.
double asked_information(double y, double mu, double phi);
// The same of many means, in the order of their weights: the sum of weight times information.
double asked_information(double y, const Vector& means, const Eigen::Ref<const Vector>& weights,
                         double phi);
// 2 (r^2 trigamma(r) - r): from 1 for phi -> 0 to 2 for phi -> infinity.
double information_limit(double phi);

}  // namespace headwater::negative_binomial
