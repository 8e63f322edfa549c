#include "headwater/engines/forecast.hpp"

#include <limits>
#include <vector>

namespace headwater {

Matrix forecast_activations(const Engine& engine, Index num_channels, Index horizon) {
  const std::vector<double> nothing_seen(static_cast<std::size_t>(num_channels),
                                         std::numeric_limits<double>::quiet_NaN());
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
