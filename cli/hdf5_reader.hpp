#pragma once

#include <string>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/model.hpp"

// The command line that starts this program as a reader of HDF5 data for another process. A damaged
// file can crash libhdf5, so the command itself never reads HDF5: neither data
// nor models.
std::vector<std::string> hdf5_reader();

// headwater::read_matrix() and headwater::read_model() with hdf5_reader().
headwater::RowMatrix read_matrix_file(const std::string& name);
headwater::Model read_model_file(const std::string& name);

// Whether this is the command of that program.
bool is_hdf5_reader(const std::string& command);
