#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "headwater/clone_pointer.hpp"
#include "headwater/config.hpp"
#include "headwater/export.hpp"
#include "headwater/forecast.hpp"
#include "headwater/model.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"
#include "headwater/surprise.hpp"

namespace headwater {

class Engine;

// Filters a stream with a fitted model (its reported estimate, or another). Nothing is learned.
class HEADWATER_EXPORT ModelFilter {
 public:
  // The seed is for the particle engine.
  ModelFilter(const Estimate& estimate, bool background, const EngineConfig& engine = {},
              std::uint64_t seed = 1);
  ModelFilter(const ModelFilter& other);
  ModelFilter(ModelFilter&& other) noexcept;
  ModelFilter& operator=(const ModelFilter& other);
  ModelFilter& operator=(ModelFilter&& other) noexcept;
  ~ModelFilter();

  // The phase of the first observation, and of the first one of each sequence, in the model's
  // season: 0 unless set here, before the first step.
  void set_phase(std::int64_t phase) { phase_ = phase; }

  Index num_channels() const;
  FilterStep step(const Observation& y);
  // The next observation is filtered elsewhere, with all of its sequence, and the next one that
  // comes here begins a sequence. It has the random numbers that it would have had.
  void pass_over();
  Vector predicted_observation() const;  // E[y_t | y_1..t-1] of the last step, M numbers
  const Engine& engine() const { return *engine_; }  // for SurpriseMeter
  Vector filtered_activation() const;    // E[x_t | y_1..t], K numbers, background left out
  Matrix forecast(Index horizon) const;  // E[y_t+h | y_1..t] for h = 1, ..., M x horizon
  Forecast forecast(const ForecastOptions& options) const;  // with quantiles

 private:
  Index num_components_;
  ClonePointer<Engine> engine_;
  std::int64_t phase_ = 0;
  std::int64_t position_ = -1;  // of the latest observation
  Observation placed_;
};

// E[x_t | y_1..T], T x K, background left out. The particle engine and the beam condition on y up
// to a lag after t only. phase: of the first observation, in the model's season. is_wanted: says of
// a sequence, counted from 0, whether it is to be smoothed; rows of others are not set. All are, if
// it is empty.
HEADWATER_EXPORT Matrix smoothed_activations(const Estimate& estimate, bool background,
                                             const RecordView& observations,
                                             const EngineConfig& engine = {},
                                             std::uint64_t seed = 1, std::int64_t phase = 0,
                                             const std::function<bool(Index)>& is_wanted = {});

}  // namespace headwater
