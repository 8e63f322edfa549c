#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/io/files/file_sink.hpp"

namespace headwater {

// Writes the rows as a NumPy array of doubles. The header contains the number of rows and is
// written last, so the target cannot be a pipe.
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
