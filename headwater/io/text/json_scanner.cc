#include "headwater/io/text/json_scanner.hpp"

#include <fmt/format.h>

#include "headwater/io/cell.hpp"
#include "headwater/io/text/digits.hpp"

namespace headwater {
namespace {

constexpr int kDeepest = 100;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool ends_word(char c) {
  return is_space(c) || std::string_view(",:[]{}\"").find(c) != std::string_view::npos;
}

bool is_literal(std::string_view word) {
  return word == "true" || word == "false" || word == "null" || word == "NaN" ||
         parse_cell(word).trouble != CellTrouble::not_a_number;
}

}  // namespace

char JsonScanner::peek() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::accept(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

void JsonScanner::expect(char c, std::string_view expected) {
  if (!accept(c)) fail(expected);
}

void JsonScanner::expect_end() {
  peek();
  if (at_ < text_.size()) fail("the end of the line");
}

std::string_view JsonScanner::read_string(std::string_view expected) {
  expect('"', expected);
  const std::size_t first = at_;
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) {
    at_ = text_.size();
    fail("a quote that closes the string");
  }
  return text_.substr(first, at_++ - first);
}

std::string_view JsonScanner::read_word() {
  peek();
  const std::size_t first = at_;
  while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
  return text_.substr(first, at_ - first);
}

bool JsonScanner::read_digits_only(double& value) {
  peek();
  const char* first = text_.data() + at_;
  const Digits digits = read_digits(first, text_.data() + text_.size());
  const std::size_t behind = at_ + digits.count;
  if (digits.count == 0 || behind == text_.size() || !ends_word(text_[behind])) return false;
  value = static_cast<double>(digits.value);
  at_ = behind;
  return true;
}

std::string_view JsonScanner::skip_value(int depth) {
  const char c = peek();
  const std::size_t first = at_;
  if (depth == kDeepest && (c == '[' || c == '{')) {
    throw JsonTrouble(column(), fmt::format("nested over {} deep", kDeepest));
  }
  if (c == '"') {
    read_string("a string");
  } else if (c == '[') {
    skip_array(depth);
  } else if (c == '{') {
    skip_object(depth);
  } else {
    skip_word();
  }
  return text_.substr(first, at_ - first);
}

std::size_t JsonScanner::column() {
  peek();
  return at_ + 1;
}

void JsonScanner::skip_word() {
  const std::size_t first = at_;
  const std::string_view word = read_word();
  if (!word.empty() && is_literal(word)) return;
  at_ = first;
  fail("a value");
}

void JsonScanner::skip_array(int depth) {
  expect('[', "[");
  if (accept(']')) return;
  do {
    skip_value(depth + 1);
  } while (accept(','));
  expect(']', "',' or ']'");
}

void JsonScanner::skip_object(int depth) {
  expect('{', "{");
  if (accept('}')) return;
  do {
    read_string("a name in quotes");
    expect(':', "':'");
    skip_value(depth + 1);
  } while (accept(','));
  expect('}', "',' or '}'");
}

// The message quotes the word at the current position, or the single character if it is no word.
void JsonScanner::fail(std::string_view expected) {
  const std::size_t where = column();
  if (at_ == text_.size()) {
    throw JsonTrouble(where, fmt::format("found the end of the line; expected {}", expected));
  }
  std::string_view found = read_word();
  if (found.empty()) found = text_.substr(at_, 1);
  throw JsonTrouble(where, fmt::format("found {}; expected {}", quote_text(found), expected));
}

}  // namespace headwater
