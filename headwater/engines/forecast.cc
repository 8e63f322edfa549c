#include "headwater/engines/forecast.hpp"

namespace headwater {

Matrix forecast_means(const Engine& engine, Index horizon) {
  Observation nothing_seen;
  nothing_seen.assign_missing(engine.emission().num_channels());
  const auto ahead = engine.clone();
  Matrix means(engine.emission().num_channels(), horizon);
  for (Index h = 0; h < horizon; ++h) {
    nothing_seen.set_position(engine.position() + 1 + h);
    ahead->step(nothing_seen, 0);
    means.col(h) = ahead->emission_now().basis() * ahead->predicted_activation();
  }
  return means;
}

}  // namespace headwater
