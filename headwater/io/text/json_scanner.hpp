#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headwater {

// The text is not valid JSON, or not the JSON that was expected. The message says what was found
// and what was expected.
class JsonTrouble : public std::runtime_error {
 public:
  JsonTrouble(std::size_t column, const std::string& what)
      : std::runtime_error(what), column_(column) {}

  std::size_t column() const { return column_; }  // position of the error in bytes, from 1

 private:
  std::size_t column_;
};

// Parses a JSON text from left to right; the caller asks for what it expects next. Whitespace
// between tokens is skipped. The text is not copied, and strings keep their escape sequences.
// kReadBehind bytes after the text must be readable.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  // The first character of the next token; 0 at the end of the text.
  char peek();
  // Consumes the character if it comes next.
  bool accept(char c);

  // Throws JsonTrouble unless the character (or the end of the text) comes next. `expected` is for
  // the message.
  void expect(char c, std::string_view expected);
  void expect_end();

  // The text between the quotes.
  std::string_view read_string(std::string_view expected);
  // A number, true, false or null: everything up to the next space, comma or bracket. May be empty.
  std::string_view read_word();
  // If the next token is a few digits and nothing else, reads it and returns true.
  bool read_digits_only(double& value);
  // Skips any value and returns its text. Arrays and objects may be nested 100 deep.
  std::string_view skip_value(int depth = 0);

  std::size_t column();  // of the next token
  [[noreturn]] void fail(std::string_view expected);

 private:
  void skip_word();
  void skip_array(int depth);
  void skip_object(int depth);

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace headwater
