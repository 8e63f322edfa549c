#pragma once

namespace headwater {

// The modified Bessel function of the first kind, I_order(x), for order > -1 and x >= 0, where it
// is positive. NaN for other arguments.

// log I_order(x). Error below 1e-11, absolute or relative to order + x, whichever is larger.
double log_bessel_i(double order, double x);

// log(exp(-x) I_order(x)), accurate for large x too: error below 1e-11, absolute or relative to the
// result, whichever is larger.
double log_scaled_bessel_i(double order, double x);

// I_(order+1)(x) / I_order(x), in [0, 1) for order >= 0. Relative error below 1e-11 up to order
// 1e3, and below 1e-14 times the order above.
double bessel_i_ratio(double order, double x);

}  // namespace headwater
