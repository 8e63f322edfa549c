#pragma once

#include <string>
#include <vector>

#include "headwater/core/matrix.hpp"

// How to start this very program as one that reads HDF5 data for another. A damaged file can crash
// libhdf5; so the command never reads one itself.
std::vector<std::string> hdf5_reader();

// headwater::read_matrix() with that.
headwater::RowMatrix read_matrix_file(const std::string& name);

// Whether this is the command of that program.
bool is_hdf5_reader(const std::string& command);
