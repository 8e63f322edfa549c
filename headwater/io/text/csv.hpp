#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/text/csv_columns.hpp"
#include "headwater/io/text/line_reader.hpp"
#include "headwater/io/text/sequence_labels.hpp"
#include "headwater/io/text/text_file.hpp"
#include "headwater/source.hpp"

namespace headwater {

struct CsvOptions {
  std::optional<char> separator = {};  // nothing: a comma, or else what the first row has
  HeaderRow header = HeaderRow::automatic;
  std::string index_column = {};  // see SourceOptions
  std::string sequence_column = {};
  std::string time_column = {};
  SourceMemory memory = {};
  CellRules rules = {};
  LineLimits limits = {};
};

// Observations from lines of text, one a line, each handed out as soon as its line has ended. Blank
// lines and comments, which begin with #, are skipped. In a file of one column a blank line could
// also be a missing cell, and is refused if a row follows it. If nobody says whether the first row
// is a header, one cell that is not a number makes it one; a row of numbers that look like names is
// refused, if need be when the second row has shown what counts are like. A column without a name
// in front of others that have names numbers the rows, and is left out.
class CsvSource final : public ObservationSource {
 public:
  using ObservationSource::next;
  // Reads ahead to the first observation.
  CsvSource(TextFile file, const CsvOptions& options = {});
  CsvSource(FileDescriptor file, const std::string& name, const CsvOptions& options = {});

  Index num_channels() const override { return num_channels_; }
  std::vector<std::string> channel_names() const override { return names_; }
  bool next(std::vector<double>& values) override;
  bool begins_sequence() const override { return sequences_.begins(); }
  bool can_go_on_after_error() const override { return true; }
  std::optional<double> fraction_read() const override { return lines_.fraction_read(); }
  std::string position() const override;
  std::string time_text() const override { return time_text_; }
  std::string unread(bool with_last_row) const override;
  void remember(SourceMemory& memory, bool with_last_row) const override;
  std::int64_t num_replaced() const override { return lines_.num_replaced(); }

 private:
  CsvSource(LineReader lines, const CsvOptions& options);

  // What a row has in columns that are no channels.
  struct RowTexts {
    std::string_view sequence;
    std::string_view time;
  };

  std::optional<std::string_view> next_line();
  std::optional<std::string_view> next_row();
  void read_ahead();
  void take_header(std::string_view line);
  void find_special(const std::vector<std::string>& names);
  std::vector<std::string> cells_of(std::string_view line) const;
  std::vector<std::string> earlier_names() const;
  bool is_header(std::string_view line) const;
  bool has_a_name(std::string_view line) const;
  void refuse_numbers_like_names(std::string_view line) const;
  void look_for_names(std::string_view first_row);
  void refuse_names_above(std::string_view second_row) const;
  [[noreturn]] void throw_doubtful(std::int64_t line, std::string_view what) const;
  void parse_row(std::string_view line, std::vector<double>& values, RowTexts& texts) const;
  double parse_at(Index column, std::optional<std::string_view> text, std::string_view line) const;
  Index count_cells(std::string_view line) const;

  std::string where() const;
  std::string at(Index column) const;
  [[noreturn]] void throw_ragged(Index num_cells) const;
  void check_agreement(std::string_view line);

  HeaderRow header_;
  ColumnOptions options_;
  CellRules rules_;
  LineReader lines_;
  bool knows_separator_;
  char separator_;
  Index num_cells_ = 0;  // of a row
  SpecialColumns columns_;
  std::vector<Index> special_ = columns_.in_order();
  SequenceLabels sequences_;
  std::string time_text_;
  Index num_channels_ = 0;
  // Whether more than one row has so many cells. Until then a row of another length may be right,
  // and the first one wrong.
  bool is_agreed_ = false;
  // What the first row shows that only the second one can tell from names: the least of its
  // numbers, if they are whole and all differ, or else 0; and whether all of its cells are quoted.
  double least_code_ = 0;
  bool is_quoted_ = false;
  std::int64_t first_line_ = 0;                // of the row that has set the number of cells
  std::optional<std::string_view> first_row_;  // read ahead, nothing once it is handed out
  std::int64_t blank_line_ = 0;                // the last one that may be a missing cell; 0 if none
  std::int64_t line_number_ = 0;               // of the last observation handed out
  std::int64_t num_rows_ = 0;                  // handed out
  std::vector<std::string> names_;             // of the channels, from the header
  std::string earlier_header_;                 // of a pipe that goes on
  std::string header_line_;                    // empty if there is none
};

}  // namespace headwater
