#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/io/hdf5/hdf5_handle.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// The names of the columns of an open dataset, if the file has them: in a dimension scale of texts
// on the last dimension (as xarray, netCDF and h5py's make_scale give it), or in an attribute of
// the dataset called names, channels, channel_names or columns that holds a list of texts. Of
// either kind, one that has not as many texts as there are columns says something else.
std::vector<std::string> hdf5_column_names(const Hdf5Place& place, std::int64_t dataset,
                                           Index num_columns);

}  // namespace headwater
