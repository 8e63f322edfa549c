#include "headwater/session/comparison.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "headwater/io/text/with_commas.hpp"

namespace headwater {

namespace {

constexpr std::size_t kRowsAtOnce = 256;
constexpr double kNever = -std::numeric_limits<double>::infinity();

// A difference below this many standard errors is not called one.
constexpr double kClear = 2;

Index second_best(const PairedScores& scores) {
  const Index best = scores.best();
  Index second = best == 0 ? 1 : 0;
  for (Index i = 0; i < scores.num_candidates(); ++i) {
    if (i != best && scores.mean(i) > scores.mean(second)) second = i;
  }
  return second;
}

}  // namespace

Comparison::Comparison(std::vector<ModelFilter> filters, int num_threads)
    : filters_(std::move(filters)),
      pool_(num_threads),
      block_(kRowsAtOnce),
      is_scored_(kRowsAtOnce),
      log_predictive_(std::ssize(filters_), static_cast<Index>(kRowsAtOnce)),
      scores_(std::ssize(filters_)),
      impossible_(filters_.size()) {}

void Comparison::update(const Observation& y, bool is_scored) {
  block_[waiting_] = y;
  is_scored_[waiting_] = is_scored;
  if (++waiting_ == kRowsAtOnce) hand_on();
}

void Comparison::finish() { hand_on(); }

void Comparison::hand_on() {
  const std::size_t count = std::exchange(waiting_, 0);
  pool_.run(std::ssize(filters_), [&](Index model) {
    for (std::size_t t = 0; t < count; ++t) {
      const FilterStep step = filters_[static_cast<std::size_t>(model)].step(block_[t]);
      log_predictive_(model, static_cast<Index>(t)) =
          step.impossible ? kNever : step.log_predictive;
    }
  });
  for (std::size_t t = 0; t < count; ++t) {
    if (!is_scored_[t]) continue;
    const auto column = log_predictive_.col(static_cast<Index>(t));
    for (Index model = 0; model < column.size(); ++model) {
      impossible_[static_cast<std::size_t>(model)] += column[model] == kNever;
    }
    scores_.add({column.data(), static_cast<std::size_t>(column.size())});
  }
}

std::string description_of(const Model& model) {
  const Estimate& estimate = model.reported;
  std::string text = fmt::format("{}, K = {}{}, {}", estimate.prior.name(), model.num_components(),
                                 model.background ? " and a background" : "", estimate.law->name());
  for (const Matrix& profile : estimate.season.profiles()) {
    text += fmt::format(", period {}", profile.cols());
  }
  return text;
}

std::string verdict(const PairedScores& scores, const std::vector<std::string>& names,
                    const std::vector<std::string>& descriptions) {
  if (scores.observations() == 0) return "no observation was possible under all models";
  const auto best = static_cast<std::size_t>(scores.best());
  const auto second = static_cast<std::size_t>(second_best(scores));
  const Gain gain = scores.difference(static_cast<Index>(best), static_cast<Index>(second));
  if (!std::isfinite(gain.standard_error)) {
    return fmt::format("{} observations are too few to tell which model predicts better",
                       scores.observations());
  }
  if (gain.mean <= kClear * gain.standard_error) {
    return fmt::format(
        "{} and {} predict equally well, as far as {} observations can tell: they differ by {:.3g} "
        "± {:.2g} nats an observation",
        names[best], names[second], with_commas(scores.observations()), gain.mean,
        gain.standard_error);
  }
  return fmt::format("{} ({}) predicts better than {} ({}) by {:.3g} ± {:.2g} nats an observation",
                     names[best], descriptions[best], names[second], descriptions[second],
                     gain.mean, gain.standard_error);
}

}  // namespace headwater
