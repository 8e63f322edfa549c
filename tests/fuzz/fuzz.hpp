#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

// Processes some bytes. A target may throw headwater::Error; crashing, hanging, any other exception
// and unbounded memory are findings.
using Target = std::function<void(const std::string& bytes)>;

// All targets by name. The name is also that of the target's folder below corpus/.
const std::map<std::string, Target>& targets();
