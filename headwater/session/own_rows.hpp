#pragma once

#include <string>

#include "headwater/config.hpp"

namespace headwater {

// What of a fit keeps ranks from having the rows of their own channels alone (see SharedChannels),
// as the option that it was asked for by; empty where nothing does. Those that are left know no
// more than sums over the channels of what is not theirs.
std::string needs_all_rows(const Config& config, Index num_channels);

}  // namespace headwater
