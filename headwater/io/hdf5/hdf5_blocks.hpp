#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// The file and the dataset of a name such as "counts.h5:/group/x".
struct Hdf5Name {
  std::string file;
  std::string path;             // empty if the name has no dataset
  bool may_leave_file = false;  // see Hdf5File::open()
  // Of the columns, those that are read: so many from the first one; all where there are none.
  Index first_kept = 0;
  Index num_kept = 0;
};

// Nothing if the name is not that of an HDF5 file (.h5, .hdf5).
std::optional<Hdf5Name> split_hdf5_name(const std::string& name);

// Reads the rows of a dataset as doubles, in consecutive blocks.
class Hdf5Blocks {
 public:
  virtual ~Hdf5Blocks() = default;

  virtual Index num_rows() const = 0;
  virtual Index num_columns() const = 0;      // that are read
  virtual Index sequence_length() const = 0;  // 0 if there are no sequences
  // Of all columns; empty if there are none.
  virtual const std::vector<std::string>& column_names() const = 0;
  // Overwrites `block` with the next rows. The block is empty at the end.
  virtual void read(std::vector<double>& block) = 0;
};

// Reads in this process. libhdf5 trusts its input: a damaged file can crash it or make it loop
// forever. A process that must survive damaged files uses a child process (hdf5_child.hpp).
std::unique_ptr<Hdf5Blocks> open_hdf5_blocks(const Hdf5Name& name);

}  // namespace headwater
