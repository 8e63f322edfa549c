#pragma once

#include "headwater/filters/particle_filter.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// E[x_t | y_1..min(t + lag, T)], T x K, background included, by a filter that has made no step yet:
// by backward draws where the prior has a transition density, by genealogies where it has none.
Matrix particle_smoothed_activations(ParticleFilter& filter, const RecordView& observations);

}  // namespace headwater
