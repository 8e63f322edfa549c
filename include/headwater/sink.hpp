#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/export.hpp"

namespace headwater {

// Writes a matrix one row at a time. The file appears under its name at commit(); without commit(),
// nothing is left behind. Pipes and devices receive their rows immediately.
class HEADWATER_EXPORT MatrixSink {
 public:
  virtual ~MatrixSink() = default;

  // All rows must have the same length as the first one, or as the header.
  virtual void write_row(std::span<const double> row) = 0;
  // The same with texts before the numbers, such as a name or a time. .npy files do not store them.
  virtual void write_row(std::span<const std::string> texts, std::span<const double> row) = 0;

  virtual void commit() = 0;
};

// Creates a .csv, .tsv or .npy file, depending on the extension. "-" is CSV on standard output, and
// names below /dev/ are CSV as well. `header` names the columns of a text file; .npy files do not
// store it. With `flush_each_row`, a reader at the other end of a pipe sees each row at once.
HEADWATER_EXPORT std::unique_ptr<MatrixSink> create_sink(
    const std::string& name, const std::vector<std::string>& header = {},
    bool flush_each_row = false);

}  // namespace headwater
