#pragma once

#include "headwater/io/text/json.hpp"
#include "headwater/report/state_json.hpp"

namespace headwater {

// The part of state.json that a stream has: see docs/state.md.
void write_stream(JsonWriter& json, const StateParts& parts);

}  // namespace headwater
