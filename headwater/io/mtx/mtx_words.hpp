#pragma once

#include <string_view>

namespace headwater {

// Lines of Matrix Market are words with spaces between them.

inline bool is_blank_character(char c) { return c == ' ' || c == '\t'; }

inline void skip_blanks(std::string_view& line) {
  while (!line.empty() && is_blank_character(line.front())) line.remove_prefix(1);
}

inline bool is_blank_line(std::string_view line) {
  skip_blanks(line);
  return line.empty();
}

// Takes the first word off the line; it is empty at the end.
inline std::string_view cut_word(std::string_view& line) {
  skip_blanks(line);
  std::size_t length = 0;
  while (length < line.size() && !is_blank_character(line[length])) ++length;
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(length);
  return word;
}

}  // namespace headwater
