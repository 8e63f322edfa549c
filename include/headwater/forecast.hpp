#pragma once

#include <cstdint>
#include <vector>

#include "headwater/clone_pointer.hpp"
#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/observation.hpp"

namespace headwater {

class Engine;

struct ForecastOptions {
  std::vector<double> quantiles;  // each inside (0, 1)
  bool with_total = false;        // one more channel, behind the others: their sum
  Index num_draws = 4000;         // of an observation, for its quantiles
  std::uint64_t seed = 1;         // of these draws

  void validate() const;  // throws UsageError
};

// The law of the observations to come, given those so far: a filter that goes on without seeing
// anything. It goes one step ahead at a time, so its memory does not grow with the horizon.
//
// Means are those of the engine. Quantiles are found from draws: activations from their law at that
// step, and counts given them by the law of the counts. The draws of a channel are looked at before
// those of the next are made, so memory does not grow with channels times draws either. The q
// quantile is the least count such that a part q of the draws, or more, is not above it.
class HEADWATER_EXPORT Forecast {
 public:
  // The engine is copied; its parameters stay as they are.
  Forecast(const Engine& engine, ForecastOptions options);
  Forecast(const Forecast& other);
  Forecast(Forecast&& other) noexcept;
  Forecast& operator=(const Forecast& other);
  Forecast& operator=(Forecast&& other) noexcept;
  ~Forecast();

  // Goes one step further: the first call leads to the observation after the last one seen.
  void next();
  Index step() const { return step_; }

  // Of the present step: M numbers, and with_total their sum behind them.
  Vector mean() const;
  // One row for each number of mean(), one column for each of options.quantiles.
  Matrix quantiles() const;

 private:
  ForecastOptions options_;
  ClonePointer<Engine> engine_;
  Observation nothing_seen_;
  Index step_ = 0;
};

}  // namespace headwater
