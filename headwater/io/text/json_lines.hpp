#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/text/json_scanner.hpp"
#include "headwater/io/text/line_reader.hpp"
#include "headwater/io/text/sequence_labels.hpp"
#include "headwater/io/text/text_file.hpp"
#include "headwater/source.hpp"

namespace headwater {

// Fields beside "y" that say something of a row; empty if there is none.
struct JsonFields {
  std::string sequence;       // see SourceOptions::sequence_column
  std::string time;           // ... time_column
  std::string last_sequence;  // see SourceMemory
};

// Observations from lines of JSON, each returned as soon as its line is complete. A line is an
// array of numbers, or an object with such an array under "y"; null (or NaN, which some programs
// write) is a missing cell. The value under "t" appears in position(); other keys are ignored.
// Blank lines are skipped. Columns in error messages count bytes of the line.
class JsonLinesSource final : public ObservationSource {
 public:
  using ObservationSource::next;
  // Reads ahead to the first observation.
  JsonLinesSource(TextFile file, const CellRules& rules = {}, JsonFields fields = {},
                  LineLimits limits = {});

  Index num_channels() const override { return num_channels_; }
  bool next(std::vector<double>& values) override;
  bool begins_sequence() const override { return sequences_.begins(); }
  bool can_go_on_after_error() const override { return true; }
  std::optional<double> fraction_read() const override { return lines_.fraction_read(); }
  std::string position() const override;
  std::string time_text() const override { return std::string(row_.stamp); }
  void remember(SourceMemory& memory, bool with_last_row) const override {
    memory.sequence = with_last_row ? sequences_.label_before() : sequences_.label();
  }
  std::string unread(bool with_last_row) const override {
    return lines_.unread(with_last_row || is_read_ahead_);
  }
  std::int64_t num_replaced() const override { return lines_.num_replaced(); }

 private:
  // The parsed contents of a line.
  struct Row {
    std::vector<double> values;
    std::string_view time;
    std::string_view sequence;
    std::string_view stamp;  // what the field of times has
    std::string trouble;     // the error in the first invalid value
  };

  bool read_row(Row& row);
  void parse(std::string_view line, Row& row) const;
  void parse_object(JsonScanner& json, Row& row) const;
  void parse_array(JsonScanner& json, Row& row) const;
  double parse_value(JsonScanner& json, Row& row) const;
  std::string at(std::size_t column) const;

  CellRules rules_;
  JsonFields fields_;
  SequenceLabels sequences_;
  LineReader lines_;
  Index num_channels_ = 0;
  Row row_;
  bool is_read_ahead_ = false;
  // Until then a row of another length may be right, and the first one wrong.
  bool has_second_row_ = false;
  std::int64_t line_number_ = 0;  // of the last observation returned
  std::string time_;              // its "t", quoted and abbreviated
};

}  // namespace headwater
