#pragma once

#include "headwater/io/json.hpp"
#include "headwater/models/parameter.hpp"

// An object of name -> number, list (one for each component) or table (list of rows).
void write_parameters(headwater::JsonWriter& json, const headwater::Parameters& parameters);
