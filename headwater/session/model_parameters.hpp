#pragma once

#include <string>

#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/hdf5/hdf5_contents.hpp"
#include "headwater/parameter.hpp"

// Parameters in a group of a model file, each by its name: one number, K numbers or a table.

namespace headwater {

void write_parameters(Hdf5File& file, const std::string& group, const Parameters& parameters);
Parameters read_parameters(const Hdf5Contents& file, const std::string& group);

}  // namespace headwater
