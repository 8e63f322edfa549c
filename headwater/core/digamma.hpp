#pragma once

namespace headwater {

// The first two derivatives of log Γ(x) for x > 0. digamma has an absolute or relative error below
// 1e-14, whichever is larger; trigamma has a relative error below 1e-14. At 0 they are minus and
// plus infinity, below 0 NaN.
double digamma(double x);
double trigamma(double x);

}  // namespace headwater
