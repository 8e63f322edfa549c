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

void append_texts_to(std::span<const std::string> texts, char separator, std::string& bytes) {
  for (const std::string& text : texts) bytes += quoted_if_needed(text, separator) + separator;
}

void append_numbers(std::span<const double> row, char separator, std::string& bytes) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) bytes += separator;
    if (!std::isnan(row[i])) {
      fmt::format_to(std::back_inserter(bytes), "{}", row[i]);
    } else if (row.size() == 1) {
      bytes += "NaN";
    }
  }
  bytes += '\n';
}

}  // namespace

std::string csv_header(const std::vector<std::string>& header, char separator) {
  std::string line;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i > 0) line += separator;
    line += quoted_if_needed(header[i], separator);
  }
  return line + "\n";
}

void append_csv_row(std::span<const std::string> texts, std::span<const double> row, char separator,
                    std::string& bytes) {
  append_texts_to(texts, separator, bytes);
  append_numbers(row, separator, bytes);
}

CsvSink::CsvSink(const std::string& name, char separator, const std::vector<std::string>& header,
                 bool flush_each_row)
    : FileSink(name, flush_each_row), separator_(separator) {
  if (header.empty()) return;
  expect_columns(header.size());
  append(csv_header(header, separator));
}

std::size_t CsvSink::append_texts(std::span<const std::string> texts, std::string& bytes) {
  append_texts_to(texts, separator_, bytes);
  return texts.size();
}

void CsvSink::append_row(std::span<const double> row, std::string& bytes) {
  append_numbers(row, separator_, bytes);
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
