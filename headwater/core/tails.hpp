#pragma once

namespace headwater {

// P(G > x) for a gamma variable G of the given shape > 0 and rate 1; 1 for x <= 0. Relative error
// below 1e-9, also where the probability is tiny. From a shape of 1e6 on, the cube root of G /
// shape is taken to be normal [WilsonHilferty1931].
double gamma_tail(double shape, double x);

// The z with P(Z <= z) = p for a standard normal variable Z, 0 < p < 1; absolute error below 1e-8,
// by Acklam's rational functions.
double normal_quantile(double p);

// P(Z > z).
double normal_tail(double z);

}  // namespace headwater
