#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/io/files/file_sink.hpp"

namespace headwater {

// The lines of such a file, with their ends. A name or a text is quoted where it must be.
std::string csv_header(const std::vector<std::string>& header, char separator);
void append_csv_row(std::span<const std::string> texts, std::span<const double> row, char separator,
                    std::string& bytes);

// Writes the rows as lines of text. Each number is the shortest text that reads back as the same
// double. NaN is an empty cell; in a file of one column it is written as NaN, because a blank line
// is not a row.
class CsvSink final : public FileSink {
 public:
  CsvSink(const std::string& name, char separator, const std::vector<std::string>& header = {},
          bool flush_each_row = false);

 private:
  void append_row(std::span<const double> row, std::string& bytes) override;
  std::size_t append_texts(std::span<const std::string> texts, std::string& bytes) override;

  char separator_;
};

std::unique_ptr<MatrixSink> create_csv(const std::string& name,
                                       const std::vector<std::string>& header, bool flush_each_row);
std::unique_ptr<MatrixSink> create_tsv(const std::string& name,
                                       const std::vector<std::string>& header, bool flush_each_row);

}  // namespace headwater
