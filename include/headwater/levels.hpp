#pragma once

#include "headwater/matrix.hpp"

namespace headwater {

// What the law of the counts expects of each channel's own level before an observation is seen (see
// law 'drifting'): the mean is multiplied by it, and the count is dispersed as the level is
// uncertain.
struct ExpectedLevels {
  Vector means;        // M; empty where channels have no level
  Vector dispersions;  // M: variance of the level over its squared mean

  bool any() const { return means.size() > 0; }
};

}  // namespace headwater
