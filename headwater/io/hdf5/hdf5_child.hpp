#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headwater/io/files/file_descriptor.hpp"
#include "headwater/io/hdf5/hdf5_blocks.hpp"
#include "headwater/io/hdf5/hdf5_contents.hpp"

namespace headwater {

// Reads HDF5 files in a separate process: if a damaged file crashes libhdf5, this process gets an
// InputError. `reader` is the command that starts the child. What it is to read is appended as
// further arguments, which the child hands to answer_hdf5_request().

// Receives the blocks of a dataset from a child process. If `should_stop` returns true while the
// child is waited for, the data end there.
std::unique_ptr<Hdf5Blocks> receive_hdf5_blocks(std::vector<std::string> reader,
                                                const Hdf5Name& name,
                                                std::function<bool()> should_stop = {});

// Receives everything in a small file, such as a model.
Hdf5Contents receive_hdf5_contents(std::vector<std::string> reader, const std::string& name);

// Called by the child: writes what was asked for to `output`, or an error message. SIGPROF ends the
// process if one block needs more than 20 seconds of processor time. More memory than 1 GB and 16
// times the size of the file is refused, unless data may be in other files too.
void answer_hdf5_request(const std::vector<std::string>& request, const FileDescriptor& output);

}  // namespace headwater
