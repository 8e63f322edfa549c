#include "choice_table.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace headwater;

std::string stability_text(const Stability& stability) {
  std::string text;
  for (std::size_t k = 0; k < stability.found.size(); ++k) {
    text += fmt::format("{}component {}: {}", k == 0 ? "" : ", ", k + 1, stability.found[k]);
  }
  return fmt::format("how many of {} restarts found each component: {}\n", stability.restarts,
                     text);
}

std::string choice_text(const std::vector<PriorScore>& table) {
  const PriorScore& chosen = *std::ranges::find_if(table, &PriorScore::chosen);
  const PriorScore* next = nullptr;
  std::string text =
      "prior               counts             score an observation   difference (standard error)\n";
  for (const PriorScore& row : table) {
    if (!row.chosen && (next == nullptr || row.score > next->score)) next = &row;
    const std::string differs =
        row.chosen ? "chosen"
                   : fmt::format("{:+.4g} ({:.2g})", row.score - chosen.score, row.standard_error);
    text += fmt::format("{:<19} {:<18} {:>20.4f}   {}\n", row.prior, row.law, row.score, differs);
  }
  if (next == nullptr) return text;
  const double gain = chosen.score - next->score;
  return text + fmt::format(
                    "prior {}: predicts held-out observations better than the second best, {}, by "
                    "{:.3g} nats an observation (standard error {:.2g})\n",
                    chosen.prior, next->prior, gain, next->standard_error);
}

std::string choice_text(const std::vector<ComponentScore>& table) {
  const double best = std::ranges::max(table, {}, &ComponentScore::score).score;
  std::string text = "components   score an observation   difference (standard error)\n";
  for (const ComponentScore& row : table) {
    const std::string differs =
        row.score == best ? "the best"
                          : fmt::format("{:.4g} ({:.2g})", row.score - best, row.standard_error);
    text += fmt::format("{:>10} {:>22.4f}   {}{}\n", row.components, row.score, differs,
                        row.chosen ? ", chosen" : "");
  }
  return text +
         "chosen: the fewest components that predict as well as the best, within one "
         "standard error or .001 nats a cell\n";
}
