#include "headwater/learning/step_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headwater {
namespace {

// Predictions of 60 observations. The long memory's are better by `gain`, give or take 1.
StartReport::MemoryChoice choice_where_long_gains(double gain) {
  Vector scatter(60);
  for (Index t = 0; t < scatter.size(); ++t) scatter[t] = t % 2 == 0 ? 1 : -1;
  const ThreadPool pool(2);
  SearchTasks tasks(pool, {});
  return choose_memory(
      [&](Memory memory) -> Vector {
        const Vector common = Vector::LinSpaced(60, -30, -10);
        if (memory == Memory::kShort) return common;
        return common + scatter + Vector::Constant(60, gain);
      },
      tasks);
}

// The standard error is that of 60 numbers 1 and -1.
TEST(MemoryChoice, IsLongUnlessTheShortOneIsClearlyBetter) {
  const double error = std::sqrt(60.0 / (60 * 59));
  for (const double gain : {0.5, 0.01, -0.9 * error}) {
    const StartReport::MemoryChoice choice = choice_where_long_gains(gain);
    EXPECT_TRUE(choice.is_long) << gain;
    EXPECT_NEAR(choice.gain, gain, 1e-12);
    EXPECT_NEAR(choice.standard_error, error, 1e-12);
  }
  EXPECT_FALSE(choice_where_long_gains(-1.1 * error).is_long);
  EXPECT_FALSE(choice_where_long_gains(-0.5).is_long);
}

// A short memory forgets at once; a long one begins where equal weights end.
TEST(StepsAfterSearch, BeginWithEqualWeights) {
  const std::int64_t n = 200;
  for (const Memory memory : {Memory::kShort, Memory::kLong}) {
    const StepSize steps = steps_after_search(n, memory);
    for (std::int64_t t = 1; t <= n; ++t) {
      EXPECT_DOUBLE_EQ(steps(t), 1 / static_cast<double>(t));
    }
  }
  EXPECT_DOUBLE_EQ(steps_after_search(n, Memory::kShort)(201), std::pow(201.0, -0.7));
  EXPECT_NEAR(steps_after_search(n, Memory::kLong)(201), 1 / 201.0, 2e-5);
  EXPECT_DOUBLE_EQ(steps_after_search(n, Memory::kLong)(2000),
                   std::pow(200.0, -0.3) * std::pow(2000.0, -0.7));
}

}  // namespace
}  // namespace headwater
