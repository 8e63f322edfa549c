#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headwater/any_law.hpp"
#include "headwater/export.hpp"

namespace headwater {

// A law of the counts that can be asked for by name.
struct LawInfo {
  std::string name;
  std::string meaning;
  AnyLaw (*make)();  // with the parameters that a fit starts from
};

// All laws that can be asked for by name.
HEADWATER_EXPORT const std::vector<LawInfo>& law_table();

// Throws UsageError, listing the names that there are, for a name that is not in the table.
HEADWATER_EXPORT const LawInfo& find_law(std::string_view name);

}  // namespace headwater
