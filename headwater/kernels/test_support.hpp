#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "headwater/kernels/instruction_sets.hpp"

namespace headwater {

// Runs a check of a kernel under each instruction set of this machine.
template <class Check>
void under_each_instruction_set(Check check) {
  struct BestAgain {
    ~BestAgain() { use_instruction_set(""); }
  } best_again;
  for (const std::string& name : instruction_sets()) {
    SCOPED_TRACE(name);
    use_instruction_set(name);
    check();
  }
}

// All lengths up to more than four of the longest vectors (eight doubles), and two long ones.
inline std::vector<std::size_t> lengths_to_try() {
  std::vector<std::size_t> lengths(37);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i;
  lengths.push_back(512);
  lengths.push_back(1003);
  return lengths;
}

}  // namespace headwater
