#pragma once

#include "headwater/engines/engine.hpp"

namespace headwater {

// E[x_t+h | y_1..t] for h = 1, ..., horizon, one column each, background included: what the engine
// predicts as it goes on without seeing anything. Parameters are those of the engine. By particles,
// with the noise of their moves.
Matrix forecast_activations(const Engine& engine, Index horizon);

// E[y_t | y_1..t-1] of the engine's last step, M numbers.
Vector predicted_observation(const Engine& engine);
// E[y_t+h | y_1..t], M x horizon.
Matrix forecast_observations(const Engine& engine, Index horizon);

}  // namespace headwater
