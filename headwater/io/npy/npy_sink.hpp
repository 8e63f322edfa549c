#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/io/files/file_sink.hpp"

namespace headwater {

// Rows as an array of doubles for NumPy. The header with the number of rows is put in place at the
// end, so a pipe will not do.
class NpySink final : public FileSink {
 public:
  NpySink(const std::string& name, bool flush_each_row);

 private:
  void append_row(std::span<const double> row, std::string& bytes) override;
  void complete(AtomicFile& file) override;
};

std::unique_ptr<MatrixSink> create_npy(const std::string& name,
                                       const std::vector<std::string>& header, bool flush_each_row);

}  // namespace headwater
