#include "choice_table.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace headwater;

std::string choice_text(const std::vector<ComponentScore>& table) {
  const double best = std::ranges::max(table, {}, &ComponentScore::score).score;
  std::string text = "components   score an observation   to the best (standard error)\n";
  for (const ComponentScore& row : table) {
    const std::string differs =
        row.score == best ? "the best"
                          : fmt::format("{:.4g} ({:.2g})", row.score - best, row.standard_error);
    text += fmt::format("{:>10} {:>22.4f}   {}{}\n", row.components, row.score, differs,
                        row.chosen ? ", chosen" : "");
  }
  return text +
         "chosen: the fewest components that predict as well as the best, within one "
         "standard error\n";
}
