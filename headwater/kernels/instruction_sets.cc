#include "headwater/kernels/instruction_sets.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "headwater/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/instruction_sets.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

std::int64_t own_target() { return HWY_TARGET; }

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(own_target);

namespace {

// Must be called before an instruction set is chosen: afterwards Highway reports only the chosen
// one.
const std::vector<std::int64_t>& targets_of_this_machine() {
  static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  return targets;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const std::int64_t target : targets_of_this_machine()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

std::string current_instruction_set() {
  return hwy::TargetName(HWY_DYNAMIC_DISPATCH(own_target)());
}

void use_instruction_set(std::string_view name) {
  std::string names;
  for (const std::int64_t target : targets_of_this_machine()) {
    if (name.empty() || name == hwy::TargetName(target)) {
      hwy::SetSupportedTargetsForTest(target);
      return;
    }
    names += names.empty() ? "" : ", ";
    names += hwy::TargetName(target);
  }
  throw UsageError(fmt::format("unknown instruction set '{}'; this machine has: {}", name, names));
}

}  // namespace headwater
#endif
