#pragma once

#include <string_view>

namespace headwater {

// Lines of Matrix Market files are words separated by spaces.

inline bool is_blank_character(char c) { return c == ' ' || c == '\t'; }

inline void skip_blanks(std::string_view& line) {
  while (!line.empty() && is_blank_character(line.front())) line.remove_prefix(1);
}

inline bool is_blank_line(std::string_view line) {
  skip_blanks(line);
  return line.empty();
}

// Removes the first word from the line and returns it; empty if there is none.
inline std::string_view cut_word(std::string_view& line) {
  skip_blanks(line);
  std::size_t length = 0;
  while (length < line.size() && !is_blank_character(line[length])) ++length;
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(length);
  return word;
}

}  // namespace headwater
