#pragma once

#include <string>
#include <vector>

#include "headwater/io/text/json.hpp"
#include "headwater/surprise.hpp"

// The channels of the smallest tail probability, at most so many, as a list of name, expected, seen
// and p.
void write_channels(headwater::JsonWriter& json,
                    const std::vector<headwater::CellSurprise>& channels,
                    const std::vector<std::string>& labels, std::size_t most);
