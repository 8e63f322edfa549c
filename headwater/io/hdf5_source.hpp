#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/hdf5.hpp"
#include "headwater/io/hdf5_rows.hpp"
#include "headwater/io/source.hpp"

namespace headwater {

// The two parts of "counts.h5:/group/x".
struct Hdf5Name {
  std::string file;
  std::string path;  // empty when the name ends with the file's
};

// Nothing for a name that is not one of an HDF5 file (.h5, .hdf5).
std::optional<Hdf5Name> split_hdf5_name(const std::string& name);

// Observations from a dataset, T x M of any real type; one of a single dimension is T observations
// of one channel. Read block by block. Errors count rows and columns from 1.
class Hdf5Source final : public ObservationSource {
 public:
  explicit Hdf5Source(const Hdf5Name& name, const CellRules& rules = {});

  Index num_channels() const override { return rows_.num_columns(); }
  bool next(std::vector<double>& values) override;
  bool can_go_on_after_error() const override { return true; }
  std::optional<double> fraction_read() const override;
  std::string position() const override;

 private:
  static Hdf5Rows open_rows(const Hdf5File& file, const Hdf5Name& name);
  void read_block();

  std::string name_;
  CellRules rules_;
  Hdf5File file_;
  Hdf5Rows rows_;
  std::vector<double> block_;
  Index block_end_ = 0;  // the row behind the block
  Index row_ = 0;        // how many have been handed out
};

}  // namespace headwater
