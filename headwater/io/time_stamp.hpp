#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headwater {

// Times of rows: ISO 8601 ("2026-03-29", "2026-03-29T14:30", "2026-03-29 14:30:00.5+02:00"), or
// plain numbers. A calendar time is counted in microseconds since 1970-01-01T00:00Z; without an
// offset it is taken for UTC.
//
// How a time was written, so that others can be written alike.
class TimeFormat {
 public:
  // Nothing if the text is no time. If it is, `format` is the way it was written.
  static std::optional<double> parse(std::string_view text, TimeFormat& format);

  // "2026-03-29T15:30" for the microseconds; the number itself for plain numbers.
  std::string text(double time) const;
  bool is_calendar() const { return is_calendar_; }
  // Units of the times in a second; only calendar times have seconds.
  static constexpr double kPerSecond = 1e6;

 private:
  bool is_calendar_ = false;
  bool has_clock_ = false;
  bool has_seconds_ = false;
  int fraction_digits_ = 0;
  char between_ = 'T';      // date and clock
  std::string offset_;      // as written: "", "Z", "+02:00"
  double offset_time_ = 0;  // what it stands for
};

}  // namespace headwater
