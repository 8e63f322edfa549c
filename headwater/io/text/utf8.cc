#include "headwater/io/text/utf8.hpp"

#include <fmt/format.h>

namespace headwater {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

std::size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

// After some lead bytes the second byte has a narrower range, which excludes overlong forms,
// surrogates and code points above U+10FFFF.
bool is_second(unsigned char lead, unsigned char second) {
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

// Characters that nobody sees but that change what others look like: marks and overrides of the
// direction of writing, separators of lines and paragraphs, spaces of no width.
bool is_invisible(char32_t code) {
  return code == 0x061c || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
         code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
         (code >= 0xe0000 && code <= 0xe007f);
}

}  // namespace

char32_t code_point(std::string_view character) {
  const std::size_t size = character.size();
  char32_t code = byte_at(character, 0) & (size == 1 ? 0x7f : 0xff >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (byte_at(character, i) & 0x3f);
  return code;
}

bool is_printing(std::string_view character) {
  if (character.empty()) return false;
  const char32_t code = code_point(character);
  return code >= ' ' && !(code >= 0x7f && code < 0xa0) && !is_invisible(code);
}

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const std::size_t length = length_by_lead(byte_at(text, 0));
  if (length > text.size()) return 0;
  if (length > 1 && !is_second(byte_at(text, 0), byte_at(text, 1))) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::string take_character(std::string_view& text) {
  std::string_view character = text.substr(0, utf8_length(text));
  const bool is_shown = is_printing(character);
  if (!is_shown) character = text.substr(0, 1);
  text.remove_prefix(character.size());
  return is_shown ? std::string(character) : fmt::format("\\x{:02x}", byte_at(character, 0));
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) shown += take_character(text);
  return shown;
}

}  // namespace headwater
