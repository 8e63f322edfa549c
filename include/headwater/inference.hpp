#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headwater/clone_pointer.hpp"
#include "headwater/config.hpp"
#include "headwater/export.hpp"
#include "headwater/forecast.hpp"
#include "headwater/model.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"

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
  Vector predicted_observation() const;  // E[y_t | y_1..t-1] of the last step, M numbers
  const Engine& engine() const { return *engine_; }  // for TailProbability
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
// to a lag after t only. phase: of the first observation, in the model's season.
HEADWATER_EXPORT Matrix smoothed_activations(const Estimate& estimate, bool background,
                                             const RecordView& observations,
                                             const EngineConfig& engine = {},
                                             std::uint64_t seed = 1, std::int64_t phase = 0);

// A sample of the predictive law of an observation: activations drawn from their predictive law,
// and what is needed to draw counts given them.
struct PredictiveDraws {
  Matrix activations;  // one row a draw: those that measure, then those that are ranked
  Emission emission;
  ExpectedLevels levels;
  Generator generator;  // for the counts
};

// Draws from the prediction of observation t, the last one that the engine has processed. No M-step
// may have followed it.
HEADWATER_EXPORT PredictiveDraws draw_prediction(const Engine& engine, std::int64_t t,
                                                 std::uint64_t seed);

// How unusual an observation is, given all before it: the probability that one drawn from the
// engine's prediction would be at least as surprising. Where the model is right these numbers are
// uniform on (0, 1).
//
// The measure of surprise is -log p under a sample of the predicted law of the activations. Any
// measure gives uniform numbers; this one is large for improbable observations. The observation is
// ranked among draws from the prediction, with ties broken at random. Within the most surprising
// tenth of the draws, and beyond them, ranks are too coarse. There the tail is extrapolated from
// the k excesses over the border of that tenth, which fall off exponentially or faster:
// P(excess > z) = (1 + z / sum of the k excesses)^-k. This is exact if they are exponential.
class HEADWATER_EXPORT TailProbability {
 public:
  explicit TailProbability(std::uint64_t seed) : seed_(seed) {}

  // For observation t, the last one that the engine has processed. No M-step may have followed it.
  double operator()(const Engine& engine, const Observation& y, std::int64_t t);
  double operator()(const PredictiveDraws& prediction, const Observation& seen);

 private:
  double surprise(const Observation& y, const PredictiveDraws& prediction);
  void draw_counts(Generator& generator, Index row, const PredictiveDraws& prediction,
                   const Observation& y);

  std::uint64_t seed_;
  Evidence evidence_;
  std::vector<double> counts_;
  std::vector<double> exposures_;
  Observation given_;
  Observation drawn_;
  std::vector<double> log_likelihoods_;
  std::vector<double> draws_;
};

// The tail probability of `surprise` among the surprises of draws; sorts `draws`. `tie`, in (0, 1),
// breaks ties.
HEADWATER_EXPORT double tail_probability(double surprise, std::vector<double>& draws, double tie);

}  // namespace headwater
