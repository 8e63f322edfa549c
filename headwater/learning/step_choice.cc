#include "headwater/learning/step_choice.hpp"

#include <array>

namespace headwater {

namespace {

constexpr double kExponentAfterSearch = 0.7;
constexpr double kToForget = 1;  // standard errors

}  // namespace

StepSize steps_after_search(std::int64_t length, Memory memory) {
  const StepSize steps = StepSize::power(kExponentAfterSearch);
  return memory == Memory::kLong ? steps.growing_from(length) : steps.with_even_beginning(length);
}

StartReport::MemoryChoice choose_memory(const PredictRemembering& predict, SearchTasks& tasks) {
  constexpr std::array kBoth = {Memory::kShort, Memory::kLong};
  std::array<Vector, 2> predictions;
  tasks.run(std::ssize(kBoth), [&](Index i) {
    const auto which = static_cast<std::size_t>(i);
    predictions[which] = predict(kBoth[which]);
  });
  const Gain gain = gain_of(predictions[1], predictions[0]);
  return {gain.mean >= -kToForget * gain.standard_error, gain.mean, gain.standard_error};
}

}  // namespace headwater
