#pragma once

#include <cstdint>
#include <functional>

#include "headwater/learning/law_choice.hpp"
#include "headwater/learning/search_tasks.hpp"
#include "headwater/reports.hpp"
#include "headwater/step_size.hpp"

namespace headwater {

// How much a fit remembers after a search for its start.
enum class Memory {
  kShort,  // steps of t^-0.7: most of what the start was found from is soon forgotten
  kLong,   // n^-0.3 t^-0.7 after a start on n observations: 1/n at first, without a jump
};

// The first `length` observations, which the start was found from, weigh the same.
StepSize steps_after_search(std::int64_t length, Memory memory);

// The log-predictions, by a fit that goes on in such steps, of observations that were held out.
using PredictRemembering = std::function<Vector(Memory memory)>;

// Where counts are scarce, noise costs more than a start that is not quite right: a long memory,
// unless the short one predicts better by more than one standard error.
StartReport::MemoryChoice choose_memory(const PredictRemembering& predict, SearchTasks& tasks);

}  // namespace headwater
