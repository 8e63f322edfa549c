#pragma once

#include <string>
#include <vector>

#include "headwater/reports.hpp"
#include "headwater/session/paired_scores.hpp"

namespace headwater {

// Chooses among priors by the log-probabilities that they gave to the same observations, which none
// of them was fitted to. The best is chosen, except that a prior without memory is kept unless the
// best one is clearly better: priors with memory include it, and one of them is a little better by
// chance as often as not.
class PriorChoice {
 public:
  explicit PriorChoice(Index num_channels) : num_channels_(num_channels) {}

  // One number for each observation, in place of earlier ones of the same prior. A prior that calls
  // one of them impossible is not considered.
  void set(const std::string& prior, const std::string& law, const Vector& log_predictive);

  // Those that a better start could make the best.
  std::vector<std::string> within_reach() const;
  // In the order of set(); empty if there are less than two.
  std::vector<PriorScore> table() const;

 private:
  struct Candidate {
    std::string prior;
    std::string law;
    Vector log_predictive;
  };
  PairedScores scores() const;
  Index chosen(const PairedScores& scores) const;

  Index num_channels_;
  std::vector<Candidate> candidates_;
};

}  // namespace headwater
