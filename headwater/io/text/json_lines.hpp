#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/source.hpp"
#include "headwater/io/text/json_scanner.hpp"
#include "headwater/io/text/line_reader.hpp"
#include "headwater/io/text/text_file.hpp"

namespace headwater {

// Observations from lines of JSON, each handed out as soon as its line has ended: an array of
// numbers, or an object that has one under "y"; null (or NaN, which some write) is a missing cell.
// What the object has under "t" is shown with the position; all else is passed over. Blank lines
// are skipped. Columns in errors are those of the text, in bytes.
class JsonLinesSource final : public ObservationSource {
 public:
  using ObservationSource::next;
  // Reads ahead to the first observation.
  JsonLinesSource(TextFile file, const CellRules& rules = {}, LineLimits limits = {});

  Index num_channels() const override { return num_channels_; }
  bool next(std::vector<double>& values) override;
  bool can_go_on_after_error() const override { return true; }
  std::optional<double> fraction_read() const override { return lines_.fraction_read(); }
  std::string position() const override;

 private:
  // A line, read as far as it is JSON.
  struct Row {
    std::vector<double> values;
    std::string_view time;
    std::string trouble;  // with the first value that is not as it should be
  };

  bool read_row(Row& row);
  void parse(std::string_view line, Row& row) const;
  void parse_object(JsonScanner& json, Row& row) const;
  void parse_array(JsonScanner& json, Row& row) const;
  double parse_value(JsonScanner& json, Row& row) const;
  std::string at(std::size_t column) const;

  CellRules rules_;
  LineReader lines_;
  Index num_channels_ = 0;
  Row row_;
  bool is_read_ahead_ = false;
  std::int64_t line_number_ = 0;  // of the last observation handed out
  std::string time_;              // and its "t", quoted and short
};

}  // namespace headwater
