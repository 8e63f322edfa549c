#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwater {

// Kernels are compiled for several instruction sets, and each call uses the best one that the
// machine supports. The order of summation depends on the vector length, and some sets have fused
// multiply-add, so results differ in their last bits between instruction sets.

// The sets that this machine supports, best first, by Highway's names: "AVX2", "SSE4", "SCALAR" and
// so on.
std::vector<std::string> instruction_sets();

// The instruction set in use.
std::string current_instruction_set();

// Makes all kernels use the named instruction set, to reproduce the results of another machine or
// to test it. An empty name selects the best one again. Throws UsageError if the machine does not
// support it. Must not be called while another thread computes.
void use_instruction_set(std::string_view name);

}  // namespace headwater
