#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/source.hpp"
#include "headwater/io/text/line_reader.hpp"
#include "headwater/io/text/text_file.hpp"

namespace headwater {

struct CsvOptions {
  std::optional<char> separator = {};  // if empty: a comma, or what the first row uses
  CellRules rules = {};
  LineLimits limits = {};
};

// Observations from text, one per line, each returned as soon as its line is complete. The first
// row is a header if none of its cells is a number. Blank lines and lines that begin with # are
// skipped.
class CsvSource final : public ObservationSource {
 public:
  using ObservationSource::next;
  // Reads ahead to the first observation.
  CsvSource(TextFile file, CsvOptions options = {});
  CsvSource(FileDescriptor file, const std::string& name, CsvOptions options = {});

  Index num_channels() const override { return num_channels_; }
  bool next(std::vector<double>& values) override;
  bool can_go_on_after_error() const override { return true; }
  std::optional<double> fraction_read() const override { return lines_.fraction_read(); }
  std::string position() const override;

 private:
  CsvSource(LineReader lines, CsvOptions options);

  std::optional<std::string_view> next_row();
  void read_ahead();
  bool is_header(std::string_view line);
  void parse_row(std::string_view line, std::vector<double>& values) const;
  double parse_at(Index column, std::optional<std::string_view> text, std::string_view line) const;
  Index count_cells(std::string_view line) const;

  std::string where() const;
  std::string at(Index column) const;
  [[noreturn]] void throw_ragged(Index num_cells) const;

  CellRules rules_;
  LineReader lines_;
  bool knows_separator_;
  char separator_;
  Index num_channels_ = 0;
  std::optional<std::string_view> first_row_;  // read ahead; empty once it has been returned
  std::string half_header_;                    // the error of a first row with names and numbers
  std::int64_t line_number_ = 0;               // of the last observation returned
};

}  // namespace headwater
