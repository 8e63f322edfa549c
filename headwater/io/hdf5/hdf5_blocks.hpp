#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/matrix.hpp"

namespace headwater {

// The two parts of "counts.h5:/group/x".
struct Hdf5Name {
  std::string file;
  std::string path;  // empty when the name ends with the file's
};

// Nothing for a name that is not one of an HDF5 file (.h5, .hdf5).
std::optional<Hdf5Name> split_hdf5_name(const std::string& name);

// The rows of a dataset as doubles, one block after another.
class Hdf5Blocks {
 public:
  virtual ~Hdf5Blocks() = default;

  virtual Index num_rows() const = 0;
  virtual Index num_columns() const = 0;
  // Overwrites `block` with the next rows; with none at the end.
  virtual void read(std::vector<double>& block) = 0;
};

// Read by this process. libhdf5 trusts its files: a damaged one can crash it, or keep it for ever.
// A process that must live on whatever it is given lets another one read (hdf5_child.hpp).
std::unique_ptr<Hdf5Blocks> open_hdf5_blocks(const Hdf5Name& name);

}  // namespace headwater
