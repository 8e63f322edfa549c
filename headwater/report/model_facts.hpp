#pragma once

#include <limits>

#include "headwater/io/text/json.hpp"
#include "headwater/model.hpp"

namespace headwater {

// Writes an object with all that a model says but the basis and the trace: what `headwater show
// --json` prints. estimate: the model's reported one, or its last. Tables with a row for each
// channel (seasons of channels, standard errors of the basis) are left out where they have more
// than so many numbers: they can be larger than a page with all its pictures.
void write_model_facts(JsonWriter& json, const Model& model, const Estimate& estimate,
                       Index largest_table = std::numeric_limits<Index>::max());

}  // namespace headwater
