#include "headwater/learning/search_stages.hpp"

#include <algorithm>

namespace headwater {

namespace {

void sort_by_likelihood(std::vector<StartTrial>& trials, std::size_t count) {
  std::stable_sort(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(count),
                   [](const StartTrial& a, const StartTrial& b) {
                     return a.report.log_likelihood > b.report.log_likelihood;
                   });
}

}  // namespace

void run_stages(std::vector<StartTrial>& trials, const std::vector<SearchStage>& stages,
                SearchTasks& tasks) {
  std::int64_t all = 0;
  std::size_t count = trials.size();
  for (const SearchStage& stage : stages) {
    for (const Round& round : stage.rounds) {
      all += static_cast<std::int64_t>(count);
      count = std::min(count, round.trials);
    }
  }
  tasks.set_steps(0, all);
  const OnIteration tell = [&](std::int64_t, double, const Estimate&) { tasks.tell(); };
  count = trials.size();
  for (const SearchStage& stage : stages) {
    for (const Round& round : stage.rounds) {
      tasks.run(static_cast<Index>(count), [&](Index i) {
        stage.improve(trials[static_cast<std::size_t>(i)], round, stage.options, tell);
        tasks.count_step();
      });
      sort_by_likelihood(trials, count);
      count = std::min(count, round.trials);
    }
  }
}

}  // namespace headwater
