#pragma once

namespace headwater {

// log Γ(x) for x > 0, with a relative error below 1e-15, even near the zeros at 1 and 2. Plus
// infinity at 0, NaN below. We do not use std::lgamma because glibc's version writes the global
// variable signgam, which is a data race between threads.
double log_gamma(double x);

// log y! = log Γ(y + 1) for y >= 0, with a relative error below 1e-15 for integers (for other y,
// the absolute error of rounding y + 1 is added). Small integers are looked up in a table.
double log_factorial(double y);

// The remainder of Stirling's formula:
//   log Γ(x) = (x - 1/2) log x - x + 1/2 log(2 pi) + stirling_remainder(x),
// for x > 0, with an absolute error below 1e-14 for x >= 1. If log Γ(x) is subtracted from terms of
// its own size, using the remainder alone avoids the cancellation.
double stirling_remainder(double x);

}  // namespace headwater
