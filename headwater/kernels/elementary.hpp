#pragma once

#include <span>

namespace headwater {

// out[i] = log(in[i]): within 1 ulp (measured: 0.9), also for subnormal numbers; log 0 is
// -infinity, of infinity infinity, of a negative number or NaN NaN. `out` may be `in`.
//
// Here as in the other kernels the last bits depend on the instruction set of the machine, unless
// it is said otherwise; see instruction_sets.hpp.
void vector_log(std::span<const double> in, std::span<double> out);

// out[i] = exp(in[i]): within 1.1 ulp (measured: 1.02); exp(-infinity) is 0, NaN stays NaN. What is
// less than the smallest normal number is within one of the smallest subnormal. `out` may be `in`.
void vector_exp(std::span<const double> in, std::span<double> out);

}  // namespace headwater
