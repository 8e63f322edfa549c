#pragma once

#include <cstdint>
#include <memory>

#include "headwater/emission.hpp"
#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/observation.hpp"

namespace headwater {

class Engine;

// The law of the activations x_t given y_1..t-1, in one form or both, and what y_t has made of it.
struct PredictedActivations {
  // Weighted points, one a row, background included. Whole: they are all activations that matter,
  // and not a sample of them.
  Matrix points;
  Vector weights;
  bool are_whole = false;
  // Independent components: means and variances of x_k, or of log x_k. Then x_k has a gamma law, or
  // a log-normal one. Empty where there is no such law.
  Vector means;
  Vector variances;
  bool is_logarithmic = false;

  Vector filtered;  // where y_t has moved them; background included

  bool has_points() const { return weights.size() > 0; }
  bool has_moments() const { return means.size() > 0; }
};

// The variances of the activations of the components, given their means: from the moments.
HEADWATER_EXPORT Vector activation_variances(const PredictedActivations& x, const Vector& means);

// The prediction of observation t as it was before that observation, and the activations after it.
struct Prediction {
  std::int64_t t = 0;
  PredictedActivations activations;
  std::shared_ptr<const Emission> emission;  // at time t
  ExpectedLevels levels;
};

// Of observation t, the last one that the engine has processed; no M-step may have followed it.
// Valid until the engine's next step.
HEADWATER_EXPORT Prediction prediction_of(const Engine& engine, std::int64_t t);
// The same with an emission of its own, which stays valid.
HEADWATER_EXPORT Prediction kept_prediction_of(const Engine& engine, std::int64_t t);

}  // namespace headwater
