#pragma once

#include "headwater/engines/engine.hpp"
#include "headwater/forecast.hpp"

namespace headwater {

// E[y_t | y_1..t-1] of the engine's last step, M numbers.
Vector predicted_observation(const Engine& engine);

// E[y_t+h | y_1..t] for h = 1, ..., horizon, M x horizon: the means of a Forecast.
Matrix forecast_means(const Engine& engine, Index horizon);

}  // namespace headwater
