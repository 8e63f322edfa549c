#pragma once

#include "headwater/observation.hpp"

namespace headwater {

// What each channel has had over some observations.
struct ChannelTotals {
  Vector counts;
  Vector exposures;
};

ChannelTotals totals_of(const RecordView& observations);

}  // namespace headwater
