#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headwater {

// A text is not JSON, or not the JSON that is wanted: what was found and what was expected.
class JsonTrouble : public std::runtime_error {
 public:
  JsonTrouble(std::size_t column, const std::string& what)
      : std::runtime_error(what), column_(column) {}

  std::size_t column() const { return column_; }  // the byte that it is about, from 1

 private:
  std::size_t column_;
};

// Reads a JSON text from left to right, as its user expects it. Spaces between the pieces are
// passed over. The text is not copied; strings stay as they are written, with their escapes. Behind
// the text, kReadBehind bytes must be readable.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  // The first character of the piece that comes next; 0 at the end of the text.
  char peek();
  // Steps over the character, if it comes next.
  bool accept(char c);

  // JsonTrouble unless that character, or the end, comes next. `expected` is for the message.
  void expect(char c, std::string_view expected);
  void expect_end();

  // What stands between the quotes.
  std::string_view read_string(std::string_view expected);
  // A number, true, false or null: up to the next space, comma or bracket. It may be empty.
  std::string_view read_word();
  // True when the word that comes next is a few digits and nothing else, and then reads it.
  bool read_digits_only(double& value);
  // Any value at all, and its text. Inside each other, at most 100 arrays and objects.
  std::string_view skip_value(int depth = 0);

  std::size_t column();  // of what comes next
  [[noreturn]] void fail(std::string_view expected);

 private:
  void skip_word();
  void skip_array(int depth);
  void skip_object(int depth);

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace headwater
