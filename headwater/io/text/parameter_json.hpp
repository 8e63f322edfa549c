#pragma once

#include "headwater/io/text/json.hpp"
#include "headwater/parameter.hpp"

namespace headwater {

// Writes a number, a list or a table.
void write_value(JsonWriter& json, const Matrix& value);
// Writes an object that maps each name to a number, a list (one element per component) or a table
// (a list of rows).
void write_parameters(JsonWriter& json, const Parameters& parameters);

}  // namespace headwater
