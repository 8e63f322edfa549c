#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headwater {

// Cuts a line of a CSV file into its cells, from left to right.
class CellCutter {
 public:
  CellCutter(std::string_view line, char separator)
      : at_(line.data()), end_(line.data() + line.size()), separator_(separator) {}

  bool at_end() const { return at_end_; }

  // The next cell without the spaces and quotes around it (a quote within is still doubled);
  // nothing when its quotes are not closed as they should be, and then the rest is not cut.
  std::optional<std::string_view> cut();

  // Most cells of counts are a few digits and nothing else: true when the next one is, and then it
  // is cut and read in one go. Up to 15 digits are exact in a double.
  bool cut_digits(double& value) {
    const char* at = at_;
    std::int64_t number = 0;
    const char* limit = end_ - at > 15 ? at + 15 : end_;
    while (at != limit && *at >= '0' && *at <= '9') number = 10 * number + (*at++ - '0');
    if (at == at_ || (at != end_ && *at != separator_)) return false;
    value = static_cast<double>(number);
    move_behind(at);
    return true;
  }

 private:
  std::optional<std::string_view> cut_quoted(const char* open);
  bool is_space(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  const char* skip_spaces(const char* at) const;
  std::string_view trim(const char* first, const char* last) const;

  void move_behind(const char* cell_end) {
    at_end_ = cell_end == end_;
    at_ = at_end_ ? end_ : cell_end + 1;
  }

  const char* at_;
  const char* end_;
  char separator_;
  bool at_end_ = false;
};

}  // namespace headwater
