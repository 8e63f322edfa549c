#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwater {

// Kernels are compiled for several instruction sets, and each call takes the best that the machine
// has. Sums are cut up by the length of a vector and some sets round a product and a sum at once,
// so that results differ in their last bits from one set to another.

// Those that this machine has, best first, by Highway's names: "AVX2", "SSE4", "SCALAR" and so on.
std::vector<std::string> instruction_sets();

// The one that is used.
std::string current_instruction_set();

// Has all kernels use the named one from now on, to get the bits of a lesser machine, or to test
// it; the best again if the name is empty. Throws UsageError for one that the machine has not. Not
// while another thread computes.
void use_instruction_set(std::string_view name);

}  // namespace headwater
