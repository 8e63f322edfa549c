#include "headwater/session/comparison.hpp"

#include <limits>
#include <utility>

namespace headwater {

namespace {

constexpr std::size_t kRowsAtOnce = 256;
constexpr double kNever = -std::numeric_limits<double>::infinity();

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

}  // namespace headwater
