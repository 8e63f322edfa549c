#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headwater {

// How many bytes the character takes that the text begins with; 0 when the text is empty or does
// not begin with valid UTF-8 (overlong forms and surrogates are not valid).
std::size_t utf8_length(std::string_view text);

// Takes the first character away from a text that is not empty, and returns it as it may be shown
// to people: what a terminal would obey, or not know, as "\x1b".
std::string take_character(std::string_view& text);

// A whole text like that.
std::string printable(std::string_view text);

}  // namespace headwater
