#pragma once

#include <memory>

#include "headwater/core/clone_pointer.hpp"
#include "headwater/engines/engine.hpp"
#include "headwater/observations/record.hpp"
#include "headwater/session/engine_config.hpp"
#include "headwater/session/model.hpp"

namespace headwater {

// A fitted model (its reported estimate, or another) at work on a stream, parameters held.
class ModelFilter {
 public:
  // The seed is for the particle engine.
  ModelFilter(const Estimate& estimate, bool background, const EngineConfig& engine = {},
              std::uint64_t seed = 1);

  Index num_channels() const { return engine_->emission().num_channels(); }
  FilterStep step(const Observation& y);
  Vector predicted_observation() const;  // E[y_t | y_1..t-1] of the last step, M numbers
  const Engine& engine() const { return *engine_; }
  Vector filtered_activation() const;    // E[x_t | y_1..t], K numbers, background left out
  Matrix forecast(Index horizon) const;  // E[y_t+h | y_1..t] for h = 1, ..., M x horizon

 private:
  Index num_components_;
  ClonePointer<Engine> engine_;
};

// E[x_t | y_1..T], T x K, background left out; by particles, given y up to a lag after t, which is
// as much as they remember.
Matrix smoothed_activations(const Estimate& estimate, bool background,
                            const RecordView& observations, const EngineConfig& engine = {},
                            std::uint64_t seed = 1);

}  // namespace headwater
