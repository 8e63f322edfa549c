#pragma once

namespace headwater {

// The derivatives of log Γ(x) for x > 0: digamma, the first, with an absolute error below 1e-14 or
// a relative one below 1e-14, whichever is larger, and trigamma, the second, with a relative error
// below 1e-14. Minus and plus infinity at 0, NaN below.
double digamma(double x);
double trigamma(double x);

}  // namespace headwater
