#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headwater {

// The number of bytes of the first character; 0 if the text is empty or does not begin with valid
// UTF-8 (overlong forms and surrogates are invalid).
std::size_t utf8_length(std::string_view text);

// The code point of one valid character.
char32_t code_point(std::string_view character);

// Whether a valid character can be shown as it is: false for control characters (above ASCII too),
// which a terminal could execute, and for characters that would hide or reorder the others.
bool is_printing(std::string_view character);

// Removes the first character of a non-empty text and returns it in a form that is safe to show:
// invalid bytes, control characters and characters that reorder or hide others become escapes such
// as "\x1b".
std::string take_character(std::string_view& text);

// Applies take_character() to the whole text.
std::string printable(std::string_view text);

}  // namespace headwater
