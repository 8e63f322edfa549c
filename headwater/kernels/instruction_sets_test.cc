#include "headwater/kernels/instruction_sets.hpp"

#include <gtest/gtest.h>

#include "headwater/error.hpp"
#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

TEST(InstructionSets, AreUsedWhenNamed) {
  for (const std::string& name : instruction_sets()) {
    use_instruction_set(name);
    EXPECT_EQ(current_instruction_set(), name);
  }
  use_instruction_set("");
  EXPECT_EQ(current_instruction_set(), instruction_sets().front());
}

TEST(InstructionSets, AreAllThereWhicheverIsUsed) {
  const std::vector<std::string> all = instruction_sets();
  under_each_instruction_set([&] { EXPECT_EQ(instruction_sets(), all); });
}

TEST(InstructionSets, ThatTheMachineHasNotAreRefused) {
  EXPECT_THROW(use_instruction_set("abacus"), UsageError);
}

}  // namespace
}  // namespace headwater
