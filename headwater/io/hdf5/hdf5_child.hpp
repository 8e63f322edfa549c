#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headwater/io/files/file_descriptor.hpp"
#include "headwater/io/hdf5/hdf5_blocks.hpp"

namespace headwater {

// Reads HDF5 data in a separate process: if a damaged file crashes libhdf5, this process gets an
// InputError.

// Receives the blocks of a dataset from a child process. `reader` is the command that starts the
// child; the file and the dataset's path are appended as two arguments, and the child calls
// send_hdf5_blocks(). If `should_stop` returns true while the child is waited for, the data end
// there.
std::unique_ptr<Hdf5Blocks> receive_hdf5_blocks(std::vector<std::string> reader,
                                                const Hdf5Name& name,
                                                std::function<bool()> should_stop = {});

// Called by the child: writes the shape of the dataset and its blocks to `output`, or an error
// message. SIGPROF ends the process if one block needs more than 20 seconds of processor time.
void send_hdf5_blocks(const Hdf5Name& name, const FileDescriptor& output);

}  // namespace headwater
