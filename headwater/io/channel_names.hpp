#pragma once

#include <string>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// The names of channels are a list with one name for each, or an empty list where channels have no
// names. Names are compared byte by byte. They may be empty, and two channels may have the same.

// Throws InputError, which begins with `subject`, if there are names but not as many as channels,
// or if a name holds a NUL byte, which model files cannot store.
void check_names(const std::vector<std::string>& names, Index num_channels,
                 const std::string& subject);

// The columns `found`, in the order of the channels `expected`: channel m is column order[m]. Empty
// if they have this order already, or if one of the two has no names. Throws InputError, one line
// that lists what differs, if the names are others, and if two channels of one name leave the order
// open. `subject` has the columns, `model` the channels: names of files.
std::vector<Index> order_by_name(const std::vector<std::string>& expected,
                                 const std::vector<std::string>& found, const std::string& subject,
                                 const std::string& model);

// The first name that two channels have, in quotes; empty if there is none.
std::string repeated_name(const std::vector<std::string>& names);

}  // namespace headwater
