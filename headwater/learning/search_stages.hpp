#pragma once

#include <functional>
#include <vector>

#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/search_effort.hpp"
#include "headwater/learning/search_tasks.hpp"
#include "headwater/learning/start_trials.hpp"

namespace headwater {

using ImproveTrial =
    std::function<void(StartTrial& trial, const Round& round, const MStepOptions& options,
                       const OnIteration& on_iteration)>;

// Rounds of a search whose trials are improved in one way.
struct SearchStage {
  std::vector<Round> rounds;
  ImproveTrial improve;
  MStepOptions options;
};

// Improves the trials, stage after stage and round after round. After each round the likeliest come
// first, and only so many of them as the round says go on. The trials of a round know nothing of
// each other, so that each can have a thread.
void run_stages(std::vector<StartTrial>& trials, const std::vector<SearchStage>& stages,
                SearchTasks& tasks);

}  // namespace headwater
