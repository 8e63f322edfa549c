#pragma once

#include "headwater/engines/engine.hpp"

namespace headwater {

// E[y_t+h | y_1..t] for h = 1, ..., horizon, one column each: what the engine predicts as it goes
// on without seeing anything. Parameters are those of the engine. By particles, with the noise of
// their moves.
Matrix forecast_means(const Engine& engine, Index horizon);

}  // namespace headwater
