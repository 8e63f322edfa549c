#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headwater/io/files/file_descriptor.hpp"
#include "headwater/io/hdf5/hdf5_blocks.hpp"

namespace headwater {

// HDF5 data read by a process of their own, so that what a damaged file does to libhdf5 is an
// InputError here.

// The blocks that a program sends: `reader` is how to start it, with the file and the path as two
// more words, and send_hdf5_blocks() what it does. Where `should_stop` says so while the program is
// waited for, that is the end of the data.
std::unique_ptr<Hdf5Blocks> receive_hdf5_blocks(std::vector<std::string> reader,
                                                const Hdf5Name& name,
                                                std::function<bool()> should_stop = {});

// Writes the shape of a dataset and its blocks to `output`, or what is wrong with them. For a
// process of its own, which SIGPROF ends when a single block costs it 20 seconds of the processor.
void send_hdf5_blocks(const Hdf5Name& name, const FileDescriptor& output);

}  // namespace headwater
