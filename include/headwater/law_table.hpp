#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headwater/any_law.hpp"
#include "headwater/export.hpp"

namespace headwater {

// What a law of the counts is made for.
struct LawArguments {
  Index num_channels = 1;
  bool shares_parameters = false;  // whether all channels have the same ones
};

// A law of the counts that can be asked for by name.
struct LawInfo {
  struct ParameterInfo {
    std::string name;
    std::string meaning;
  };

  std::string name;
  std::string meaning;
  std::vector<ParameterInfo> parameters;
  AnyLaw (*make)(const LawArguments& arguments);  // with the parameters that a fit starts from
};

// All laws that can be asked for by name.
HEADWATER_EXPORT const std::vector<LawInfo>& law_table();

// Whether a law in the table has a parameter of this name.
HEADWATER_EXPORT bool is_law_parameter(std::string_view name);

// Throws UsageError, listing the names that there are, for a name that is not in the table.
HEADWATER_EXPORT const LawInfo& find_law(std::string_view name);

}  // namespace headwater
