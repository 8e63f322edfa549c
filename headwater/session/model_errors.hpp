#pragma once

#include <optional>

#include "headwater/estimate.hpp"
#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/hdf5/hdf5_contents.hpp"
#include "headwater/standard_errors.hpp"

// The standard errors in a model file. Nothing is written where there are none. Reading throws
// InputError if they do not fit the estimate.

namespace headwater {

void write_errors(Hdf5File& file, const std::optional<StandardErrors>& errors);
std::optional<StandardErrors> read_errors(const Hdf5Contents& file, const Estimate& estimate);

}  // namespace headwater
