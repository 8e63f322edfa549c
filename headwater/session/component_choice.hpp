#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "headwater/model.hpp"
#include "headwater/reports.hpp"
#include "headwater/session/paired_scores.hpp"

namespace headwater {

// The most numbers of components that can be compared at once.
inline constexpr Index kMostCandidates = 64;

// "5", "2..8" or "2,3,5": numbers of components, in increasing order. Throws UsageError.
std::vector<Index> parse_candidates(const std::string& text);

// Chooses among fits with different numbers of components by how well each predicts the
// observations, one step ahead, while it learns. Chosen is the smallest number that predicts as
// well as the best one, within one standard error of the difference [HastieTibshiraniFriedman2009,
// section 7.10], or within kLeastGain.
class ComponentChoice {
 public:
  explicit ComponentChoice(std::vector<Index> candidates);

  const std::vector<Index>& candidates() const { return candidates_; }

  // A fit has predicted an observation. Different candidates may call this at the same time.
  void add(Index candidate, const StepReport& report);
  // Compares the predictions of those observations that every fit has predicted by now.
  void compare();

  Index chosen() const {
    const double cells = static_cast<double>(std::min(num_channels_, kMostCells));
    return scores().first_as_good_as_best(kLeastGain * cells);
  }
  std::vector<ComponentScore> table() const;

  void exchange(StateArchive& archive);

 private:
  struct Prediction {
    double log_predictive = 0;
    bool in_start = false;

    void exchange(StateArchive& archive) { archive(log_predictive, in_start); }
  };

  // Observations that a search for a start has looked at say little of how well the next one is
  // predicted. They count only in a stream that has no others.
  const PairedScores& scores() const;

  // What further components must gain, in nats a cell, but no more than so much of fifty cells.
  // Fits of the same number from other starts differ by up to half of it, which the standard error
  // of a difference does not know; a source that is missing costs ten to forty times as much.
  static constexpr double kLeastGain = 0.001;
  static constexpr Index kMostCells = 50;

  std::vector<Index> candidates_;
  Index num_channels_ = 0;
  std::vector<std::deque<Prediction>> waiting_;  // of each candidate, in the order of the stream
  PairedScores in_start_;
  PairedScores after_start_;
};

}  // namespace headwater
