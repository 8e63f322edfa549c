#pragma once

#include "headwater/observation.hpp"

namespace headwater {

// What each channel has had over some observations.
struct ChannelTotals {
  Vector counts;
  Vector exposures;
  Vector squared_exposures;  // the sum of squares
};

ChannelTotals totals_of(const RecordView& observations);

}  // namespace headwater
