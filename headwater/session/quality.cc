#include "headwater/session/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/learning/activation_law.hpp"
#include "headwater/matching.hpp"

namespace headwater {

namespace {

using Notes = std::vector<std::string>;

// So many standard errors make a loss more than chance, in a stream where nothing is lost: the
// false-alarm rate of a normal law is 1e-3. Standard errors are those of batch means.
constexpr double kClearLoss = 3.1;
constexpr std::size_t kMostListed = 8;

bool is_clear_loss(double gain, double standard_error) {
  return gain < 0 && std::isfinite(standard_error) && -gain > kClearLoss * standard_error;
}

// "3", "3 and 5", "1, 2, 3 and 4 more"
std::string list_of(const std::vector<std::string>& items) {
  std::string list;
  const std::size_t shown = std::min(items.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) list += i + 1 == items.size() ? " and " : ", ";
    list += items[i];
  }
  if (items.size() > shown) list += fmt::format(" and {} more", items.size() - shown);
  return list;
}

// A tenth of an equal share, and at most a thousandth of all counts.
void find_idle_components(const Model& model, Notes& notes) {
  const Index count = model.num_components();
  const Matrix basis = basis_of(model.reported, model.background);
  const Vector means = mean_activation(model.reported.prior);
  const Vector expected = basis.colwise().sum().transpose().cwiseProduct(means);
  const double all = expected.sum() + background_of(model.reported, model.background).sum();
  const double little = std::min(1e-3, 0.1 / static_cast<double>(count));
  std::vector<std::string> idle;
  for (Index k = 0; k < count; ++k) {
    if (!(expected[k] > little * all)) idle.push_back(fmt::format("{}", k + 1));
  }
  if (idle.empty()) return;
  notes.push_back(fmt::format(
      "component{} {} {} next to no counts (less than {:.2g} %): fewer "
      "--components will do",
      idle.size() == 1 ? "" : "s", list_of(idle), idle.size() == 1 ? "has" : "have", 100 * little));
}

void find_columns_of_one_seed(const Model& model, Notes& notes) {
  const auto& [restarts, found] = model.stability;
  std::vector<std::string> unsure;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Index others = found[k] - 1;
    if (2 * others > restarts - 1) continue;
    unsure.push_back(fmt::format("{} (by {})", k + 1, others));
  }
  if (unsure.empty()) return;
  notes.push_back(
      fmt::format("of the {} other seeds, at most half find component{} {}: do not rely on {}; try "
                  "fewer --components or more data",
                  restarts - 1, unsure.size() == 1 ? "" : "s", list_of(unsure),
                  unsure.size() == 1 ? "it" : "them"));
}

// A larger model can do what a smaller one does, but it has to learn more while it predicts: about
// log(n) / 2 nats for each entry of the basis in n observations. A loss of more than twice that is
// the fault of the fit.
void find_scores_that_fell(const Model& model, Notes& notes) {
  const std::vector<ComponentScore>& table = model.choice_of_components;
  if (table.empty() || model.observations_after_start < 2) return;
  const ComponentScore& best = *std::ranges::max_element(table, {}, &ComponentScore::score);
  const auto count = static_cast<double>(model.observations_after_start);
  const double an_entry = std::log(count) / count;
  for (const ComponentScore& score : table) {
    const auto entries =
        static_cast<double>((score.components - best.components) * model.num_channels());
    const double loss = best.score - score.score - entries * an_entry;
    if (entries <= 0 || !is_clear_loss(-loss, score.standard_error)) continue;
    notes.push_back(
        fmt::format("{} components predict worse than {}, by {:.3g} nats an observation, more than "
                    "the larger fit needs to learn its entries: it ended in a poor local maximum; "
                    "--method batch or another --seed may find a better one",
                    score.components, best.components, best.score - score.score));
    return;
  }
}

void compare_with_running_mean(const Model& model, Notes& notes) {
  const GainOverMean& mean = model.over_running_mean;
  if (!is_clear_loss(mean.gain, mean.standard_error)) return;
  const std::string law = model.reported.law->name();
  notes.push_back(fmt::format(
      "predicts worse than the running mean of each channel, by {:.3g} nats an observation "
      "(standard error {:.2g}): do not use it for prediction; try {}another --prior or number of "
      "--components",
      -mean.gain, mean.standard_error, law == "poisson" ? "--counts negative-binomial, " : ""));
}

void compare_with_earlier(const std::optional<Gain>& gain, Notes& notes) {
  if (!gain || !is_clear_loss(gain->mean, gain->standard_error)) return;
  notes.push_back(
      fmt::format("predicts worse than the model that it continued, by {:.3g} nats an observation "
                  "(standard error {:.2g}): keep that model, or --forget less",
                  -gain->mean, gain->standard_error));
}

}  // namespace

std::vector<std::string> quality_notes(const Model& model,
                                       const std::optional<Gain>& over_earlier) {
  Notes notes;
  find_idle_components(model, notes);
  find_columns_of_one_seed(model, notes);
  find_scores_that_fell(model, notes);
  compare_with_running_mean(model, notes);
  compare_with_earlier(over_earlier, notes);
  return notes;
}

Stability stability_of(const Model& model, std::span<const Model> others) {
  if (others.empty()) return {};
  const Matrix basis = basis_of(model.reported, model.background);
  Stability result{std::ssize(others) + 1,
                   std::vector<Index>(static_cast<std::size_t>(basis.cols()), 1)};
  for (const Model& other : others) {
    const Vector cosines = matched_cosines(basis, basis_of(other.reported, other.background));
    for (Index k = 0; k < basis.cols(); ++k) {
      result.found[static_cast<std::size_t>(k)] += cosines[k] >= kFoundAgain;
    }
  }
  return result;
}

}  // namespace headwater
