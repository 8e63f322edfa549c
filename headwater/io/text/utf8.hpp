#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headwater {

// The number of bytes of the first character; 0 if the text is empty or does not begin with valid
// UTF-8 (overlong forms and surrogates are invalid).
std::size_t utf8_length(std::string_view text);

// Removes the first character of a non-empty text and returns it in a form that is safe to show:
// invalid bytes and control characters become escapes such as "\x1b".
std::string take_character(std::string_view& text);

// Applies take_character() to the whole text.
std::string printable(std::string_view text);

}  // namespace headwater
