#include "headwater/law_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/emission/poisson.hpp"
#include "headwater/error.hpp"

namespace headwater {

const std::vector<LawInfo>& law_table() {
  static const std::vector<LawInfo> table = {
      {"poisson", "counts whose variance is their mean", [] { return AnyLaw(Poisson()); }},
  };
  return table;
}

const LawInfo& find_law(std::string_view name) {
  const std::vector<LawInfo>& table = law_table();
  const auto found = std::ranges::find(table, name, &LawInfo::name);
  if (found != table.end()) return *found;
  std::string names;
  for (const LawInfo& law : table) names += (names.empty() ? "" : ", ") + law.name;
  throw UsageError(fmt::format("unknown law '{}'; there are: {}", name, names));
}

}  // namespace headwater
