#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/matrix.hpp"

namespace headwater {

// Observations one after another, time runs on. A missing cell is NaN; every other value is finite
// and 0 or more. Whatever is wrong with the data throws InputError that says where.
class ObservationSource {
 public:
  virtual ~ObservationSource() = default;

  virtual Index num_channels() const = 0;

  // Overwrites `values` with the next observation; false at the end, and then they mean nothing.
  virtual bool next(std::vector<double>& values) = 0;

  // How much of the data has been handed out, from 0 to 1; nothing for a pipe.
  virtual std::optional<double> fraction_read() const = 0;

  // Where the last observation came from: "counts.csv:17", "counts.npy: row 17".
  virtual std::string position() const = 0;
};

// Opens .csv, .tsv and .npy by name; "-" is CSV from standard input, and so is anything below /dev/
// (a shell's <(...) has such a name). Reads ahead to the first observation.
std::unique_ptr<ObservationSource> open_source(const std::string& name);

// The whole of such a file, rows as they stand there: a basis, activations. No cell may be missing.
RowMatrix read_matrix(const std::string& name);

}  // namespace headwater
