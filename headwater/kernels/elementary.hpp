#pragma once

#include <span>

namespace headwater {

// out[i] = log(in[i]), within 1 ulp (measured: 0.9), subnormal numbers included. log 0 is
// -infinity, log infinity is infinity; the log of a negative number or NaN is NaN. `out` may be
// `in`.
//
// In this kernel and all others the last bits depend on the machine's instruction set, unless
// stated otherwise; see instruction_sets.hpp.
void vector_log(std::span<const double> in, std::span<double> out);

// out[i] = exp(in[i]), within 1.1 ulp (measured: 1.02). exp(-infinity) is 0 and NaN stays NaN. A
// result below the smallest normal number has an absolute error of at most the smallest subnormal.
// `out` may be `in`.
void vector_exp(std::span<const double> in, std::span<double> out);

// out[i] = 1 - exp(in[i]) for in[i] <= 0, within 2 ulp (measured: 1.4) also where it is tiny. `out`
// may be `in`.
void vector_one_minus_exp(std::span<const double> in, std::span<double> out);

}  // namespace headwater
