#include "headwater/io/text/csv_sink.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace headwater {
namespace {

bool needs_quotes(const std::string& name, char separator) {
  if (name.empty()) return false;
  const bool has_space_around = name.front() == ' ' || name.back() == ' ';
  return has_space_around || name.front() == '#' || name.find(separator) != std::string::npos ||
         name.find_first_of("\"\r\n") != std::string::npos;
}

std::string quote_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string quoted_if_needed(const std::string& name, char separator) {
  return needs_quotes(name, separator) ? quote_name(name) : name;
}

}  // namespace

CsvSink::CsvSink(const std::string& name, char separator, const std::vector<std::string>& header,
                 bool flush_each_row)
    : FileSink(name, flush_each_row), separator_(separator) {
  if (!header.empty()) append_header(header);
}

void CsvSink::append_header(const std::vector<std::string>& header) {
  expect_columns(header.size());
  std::string line;
  for (const std::string& name : header) {
    if (!line.empty()) line += separator_;
    line += quoted_if_needed(name, separator_);
  }
  append(line + "\n");
}

std::size_t CsvSink::append_texts(std::span<const std::string> texts, std::string& bytes) {
  for (const std::string& text : texts) bytes += quoted_if_needed(text, separator_) + separator_;
  return texts.size();
}

void CsvSink::append_row(std::span<const double> row, std::string& bytes) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) bytes += separator_;
    if (!std::isnan(row[i])) {
      fmt::format_to(std::back_inserter(bytes), "{}", row[i]);
    } else if (row.size() == 1) {
      bytes += "NaN";
    }
  }
  bytes += '\n';
}

std::unique_ptr<MatrixSink> create_csv(const std::string& name,
                                       const std::vector<std::string>& header,
                                       bool flush_each_row) {
  return std::make_unique<CsvSink>(name, ',', header, flush_each_row);
}

std::unique_ptr<MatrixSink> create_tsv(const std::string& name,
                                       const std::vector<std::string>& header,
                                       bool flush_each_row) {
  return std::make_unique<CsvSink>(name, '\t', header, flush_each_row);
}

}  // namespace headwater
