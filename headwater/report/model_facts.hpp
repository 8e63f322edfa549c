#pragma once

#include "headwater/io/text/json.hpp"
#include "headwater/model.hpp"

namespace headwater {

// Writes an object with all that a model says but the basis and the trace: what `headwater show
// --json` prints. estimate: the model's reported one, or its last.
void write_model_facts(JsonWriter& json, const Model& model, const Estimate& estimate);

}  // namespace headwater
