#pragma once

#include <cstddef>
#include <string_view>

namespace headwater {

// How many bytes the character takes that the text begins with; 0 when the text is empty or does
// not begin with valid UTF-8 (overlong forms and surrogates are not valid).
std::size_t utf8_length(std::string_view text);

}  // namespace headwater
