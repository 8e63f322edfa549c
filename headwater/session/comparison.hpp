#pragma once

#include <string>
#include <vector>

#include "headwater/inference.hpp"
#include "headwater/model.hpp"
#include "headwater/observation.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/session/paired_scores.hpp"

namespace headwater {

// Several models predict the same observations, each one step ahead. Observations are handed on in
// blocks, so that the filters can run on threads.
class Comparison {
 public:
  Comparison(std::vector<ModelFilter> filters, int num_threads);

  // is_scored: false for observations that the filters see and that do not count.
  void update(const Observation& y, bool is_scored = true);
  void finish();

  const PairedScores& scores() const { return scores_; }
  // Observations that a model calls impossible; they are left out for all models.
  std::int64_t impossible(Index model) const {
    return impossible_[static_cast<std::size_t>(model)];
  }

 private:
  void hand_on();

  std::vector<ModelFilter> filters_;
  ThreadPool pool_;
  std::vector<Observation> block_;
  std::vector<bool> is_scored_;
  std::size_t waiting_ = 0;
  Matrix log_predictive_;  // of a model (row) for an observation of the block (column)
  PairedScores scores_;
  std::vector<std::int64_t> impossible_;
};

// "gamma, K = 5, negative-binomial, period 24"
std::string description_of(const Model& model);

// Which of the models predicts best, and how clearly, in one sentence. names: what to call each;
// descriptions: what each is.
std::string verdict(const PairedScores& scores, const std::vector<std::string>& names,
                    const std::vector<std::string>& descriptions);

}  // namespace headwater
