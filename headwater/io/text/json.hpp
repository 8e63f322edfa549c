#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace headwater {

// Builds a JSON text piece by piece:
//   JsonWriter json;
//   json.begin_object().key("channels").value(12).end_object();
//   json.text()  // {"channels":12}
// Calls in an order that is not valid JSON violate an assertion.
class JsonWriter {
 public:
  enum class Layout { compact, indented };

  explicit JsonWriter(Layout layout = Layout::compact) : layout_(layout) {
    text_.reserve(1024);  // a line of a log
  }

  JsonWriter& begin_object() { return begin('{', '}'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('[', ']'); }
  JsonWriter& end_array() { return end(']'); }

  JsonWriter& key(std::string_view name);

  // Written with 17 digits, so that it reads back as the same double. Infinities and NaN become
  // null, because JSON has neither.
  JsonWriter& value(double number);
  // Written with so many significant digits.
  JsonWriter& rounded(double number, int digits);

  // Invalid UTF-8 is replaced by U+FFFD.
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }

  template <std::integral Number>
  JsonWriter& value(Number number) {
    if constexpr (std::is_same_v<Number, bool>) return literal(number ? "true" : "false");
    return literal(std::to_string(number));
  }

  JsonWriter& null() { return literal("null"); }

  // The finished text, without a newline at the end.
  const std::string& text() const;

 private:
  struct Level {
    char close;
    std::size_t size = 0;
  };

  JsonWriter& begin(char open, char close);
  JsonWriter& end(char close);
  JsonWriter& literal(std::string_view text);
  void prepare_value();
  void prepare_item();
  void new_line();
  void append_string(std::string_view text);

  Layout layout_;
  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace headwater
