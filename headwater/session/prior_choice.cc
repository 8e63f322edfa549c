#include "headwater/session/prior_choice.hpp"

#include <algorithm>

namespace headwater {

namespace {

constexpr const char* kWithoutMemory = "independent";
// By so many standard errors, and by so many nats a cell, a prior with memory must predict better
// than the one without. Two starts of the same model differ by as much as one of the two allows.
constexpr double kClearMemory = 3;
constexpr double kMuch = 0.002;
// A prior that is behind by more standard errors than this is not tried again.
constexpr double kOutOfReach = 10;

}  // namespace

void PriorChoice::set(const std::string& prior, const std::string& law,
                      const Vector& log_predictive) {
  const auto earlier = std::ranges::find(candidates_, prior, &Candidate::prior);
  if (log_predictive.minCoeff() <= kImpossible) {
    if (earlier != candidates_.end()) candidates_.erase(earlier);
  } else if (earlier != candidates_.end()) {
    *earlier = {prior, law, log_predictive};
  } else {
    candidates_.push_back({prior, law, log_predictive});
  }
}

PairedScores PriorChoice::scores() const {
  PairedScores scores(std::ssize(candidates_));
  std::vector<double> row(candidates_.size());
  const Index count = candidates_.empty() ? 0 : candidates_.front().log_predictive.size();
  for (Index t = 0; t < count; ++t) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = candidates_[i].log_predictive[t];
    scores.add(row);
  }
  return scores;
}

std::vector<std::string> PriorChoice::within_reach() const {
  std::vector<std::string> names;
  if (candidates_.empty()) return names;
  const PairedScores compared = scores();
  const Index best = compared.best();
  for (Index i = 0; i < std::ssize(candidates_); ++i) {
    const Gain gain = compared.difference(best, i);
    if (gain.mean > kOutOfReach * gain.standard_error) continue;
    names.push_back(candidates_[static_cast<std::size_t>(i)].prior);
  }
  return names;
}

Index PriorChoice::chosen(const PairedScores& scores) const {
  const Index best = scores.best();
  const auto simple = std::ranges::find(candidates_, kWithoutMemory, &Candidate::prior);
  if (simple == candidates_.end()) return best;
  const Gain gain = scores.difference(best, simple - candidates_.begin());
  const bool is_clear = gain.mean > kClearMemory * gain.standard_error &&
                        gain.mean > kMuch * static_cast<double>(num_channels_);
  return is_clear ? best : simple - candidates_.begin();
}

std::vector<PriorScore> PriorChoice::table() const {
  if (candidates_.size() < 2) return {};
  const PairedScores compared = scores();
  const Index chosen = this->chosen(compared);
  std::vector<PriorScore> table;
  for (Index i = 0; i < std::ssize(candidates_); ++i) {
    const Candidate& candidate = candidates_[static_cast<std::size_t>(i)];
    table.push_back({candidate.prior, candidate.law, compared.mean(i),
                     compared.difference(i, chosen).standard_error, i == chosen});
  }
  return table;
}

}  // namespace headwater
