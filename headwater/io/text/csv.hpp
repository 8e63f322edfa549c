#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/text/line_reader.hpp"
#include "headwater/io/text/text_file.hpp"
#include "headwater/source.hpp"

namespace headwater {

struct CsvOptions {
  std::optional<char> separator = {};  // nothing: a comma, or else what the first row has
  HeaderRow header = HeaderRow::automatic;
  CellRules rules = {};
  LineLimits limits = {};
};

// Observations from lines of text, one a line, each handed out as soon as its line has ended. Blank
// lines and lines that begin with # are skipped. If nobody says whether the first row is a header,
// one cell that is not a number makes it one; a row of numbers that look like names is refused.
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
  std::string unread(bool with_last_row) const override;
  std::int64_t num_replaced() const override { return lines_.num_replaced(); }

 private:
  CsvSource(LineReader lines, CsvOptions options);

  std::optional<std::string_view> next_row();
  void read_ahead();
  bool is_header(std::string_view line) const;
  bool has_a_name(std::string_view line) const;
  void refuse_numbers_like_names(std::string_view line) const;
  [[noreturn]] void throw_doubtful(std::string_view what) const;
  void parse_row(std::string_view line, std::vector<double>& values) const;
  double parse_at(Index column, std::optional<std::string_view> text, std::string_view line) const;
  Index count_cells(std::string_view line) const;

  std::string where() const;
  std::string at(Index column) const;
  [[noreturn]] void throw_ragged(Index num_cells) const;

  HeaderRow header_;
  CellRules rules_;
  LineReader lines_;
  bool knows_separator_;
  char separator_;
  Index num_channels_ = 0;
  std::optional<std::string_view> first_row_;  // read ahead, nothing once it is handed out
  std::int64_t line_number_ = 0;               // of the last observation handed out
  std::int64_t num_rows_ = 0;                  // handed out
  std::string header_line_;                    // empty if there is none
};

}  // namespace headwater
