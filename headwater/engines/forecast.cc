#include "headwater/engines/forecast.hpp"

namespace headwater {

namespace {

// One column for each step ahead: what `look` says of the engine that has gone on so far.
template <class Look>
Matrix go_on_unseeing(const Engine& engine, Index horizon, const Look& look) {
  Observation nothing_seen;
  nothing_seen.assign_missing(engine.emission().num_channels());
  const auto ahead = engine.clone();
  Matrix columns;
  for (Index h = 0; h < horizon; ++h) {
    ahead->step(nothing_seen, 0);
    const Vector column = look(*ahead);
    if (h == 0) columns.resize(column.size(), horizon);
    columns.col(h) = column;
  }
  return columns;
}

}  // namespace

Matrix forecast_activations(const Engine& engine, Index horizon) {
  return go_on_unseeing(engine, horizon,
                        [](const Engine& ahead) { return ahead.predicted_activation(); });
}

Vector predicted_observation(const Engine& engine) {
  Vector means = engine.basis() * engine.predicted_activation();
  if (engine.expected_levels().any()) means.array() *= engine.expected_levels().means.array();
  return means;
}

Matrix forecast_observations(const Engine& engine, Index horizon) {
  return go_on_unseeing(engine, horizon, predicted_observation);
}

}  // namespace headwater
