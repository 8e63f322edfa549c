#pragma once

#include "headwater/core/parameter.hpp"
#include "headwater/io/text/json.hpp"

// An object of name -> number, list (one for each component) or table (list of rows).
void write_parameters(headwater::JsonWriter& json, const headwater::Parameters& parameters);
