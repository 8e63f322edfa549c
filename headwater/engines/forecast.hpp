#pragma once

#include "headwater/engines/engine.hpp"
#include "headwater/forecast.hpp"

namespace headwater {

// E[y_t+h | y_1..t] for h = 1, ..., horizon, M x horizon: the means of a Forecast.
Matrix forecast_means(const Engine& engine, Index horizon);

}  // namespace headwater
