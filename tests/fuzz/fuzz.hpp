#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

// What a fuzzer does with some bytes: anything but crash, hang or take memory without bound. Errors
// are thrown as headwater::Error; everything else is a finding.
using Target = std::function<void(const std::string& bytes)>;

// Every target by its name, which is also that of its folder below corpus/.
const std::map<std::string, Target>& targets();
