#include "headwater/engines/forecast.hpp"

namespace headwater {

Matrix forecast_activations(const Engine& engine, Index horizon) {
  Observation nothing_seen;
  nothing_seen.assign_missing(engine.emission().num_channels());
  const auto ahead = engine.clone();
  Matrix activations;
  for (Index h = 0; h < horizon; ++h) {
    ahead->step(nothing_seen, 0);
    const Vector x = ahead->predicted_activation();
    if (h == 0) activations.resize(x.size(), horizon);
    activations.col(h) = x;
  }
  return activations;
}

}  // namespace headwater
