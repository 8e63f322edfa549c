#include "headwater/io/cell_cutter.hpp"

#include <algorithm>

namespace headwater {

std::optional<std::string_view> CellCutter::cut() {
  const char* first = skip_spaces(at_);
  if (first != end_ && *first == '"') return cut_quoted(first);
  const char* last = std::find(first, end_, separator_);
  move_behind(last);
  return trim(first, last);
}

std::optional<std::string_view> CellCutter::cut_quoted(const char* open) {
  at_end_ = true;  // unless the quotes turn out well
  const char* close = std::find(open + 1, end_, '"');
  while (close != end_ && close + 1 != end_ && close[1] == '"') {
    close = std::find(close + 2, end_, '"');
  }
  if (close == end_) return std::nullopt;
  const char* last = skip_spaces(close + 1);
  if (last != end_ && *last != separator_) return std::nullopt;
  move_behind(last);
  return trim(open + 1, close);
}

const char* CellCutter::skip_spaces(const char* at) const {
  while (at != end_ && is_space(*at)) ++at;
  return at;
}

std::string_view CellCutter::trim(const char* first, const char* last) const {
  while (first != last && is_space(*first)) ++first;
  while (first != last && is_space(last[-1])) --last;
  return {first, static_cast<std::size_t>(last - first)};
}

}  // namespace headwater
