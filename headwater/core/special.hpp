#pragma once

namespace headwater {

// log Γ(x) for x > 0, with a relative error below 1e-15, also near the zeros at 1 and 2.
// Plus infinity at 0, NaN below. std::lgamma would do, but glibc's writes the global signgam, so
// that two threads that call it race.
double log_gamma(double x);

// log y! = log Γ(y + 1) for y >= 0, with a relative error below 1e-15 for whole numbers (and the
// absolute error of rounding y + 1 for the others). Small whole numbers come from a table.
double log_factorial(double y);

// What Stirling's formula leaves out:
//   log Γ(x) = (x - 1/2) log x - x + 1/2 log(2 pi) + stirling_remainder(x),
// for x > 0, with an absolute error below 1e-14 for x >= 1. Where log Γ(x) only stands against
// terms of its own size, this part alone keeps the digits that their difference would lose.
double stirling_remainder(double x);

}  // namespace headwater
