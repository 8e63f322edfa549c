#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headwater {

// Rows going out, one at a time. Nothing appears under the final name before commit(), and nothing
// stays behind without it; only pipes and devices get their rows as they come.
class MatrixSink {
 public:
  virtual ~MatrixSink() = default;

  // Every row has as many values as the first, or the header.
  virtual void write_row(std::span<const double> row) = 0;

  virtual void commit() = 0;
};

// Creates .csv, .tsv and .npy by name; "-" is CSV on standard output, and so is anything below
// /dev/. The header names the columns of a text file; .npy has no place for it. With
// `flush_each_row` a reader at the other end of a pipe sees each row at once.
std::unique_ptr<MatrixSink> create_sink(const std::string& name,
                                        const std::vector<std::string>& header = {},
                                        bool flush_each_row = false);

}  // namespace headwater
