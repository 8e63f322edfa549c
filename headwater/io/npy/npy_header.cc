#include "headwater/io/npy/npy_header.hpp"

#include <fmt/format.h>

#include <cassert>
#include <charconv>

#include "headwater/error.hpp"

namespace headwater {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionSize = 2;

// Parses the header's text, a Python dictionary with three entries in any order.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    expect('{');
    while (!accept('}')) {
      read_entry(header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!text_.empty() || num_entries_ != 3) fail();
    return header;
  }

 private:
  void read_entry(NpyHeader& header) {
    const std::string key = read_string();
    expect(':');
    if (key == "descr") {
      header.type = read_type();
    } else if (key == "fortran_order") {
      header.fortran_order = read_boolean();
    } else if (key == "shape") {
      header.shape = read_shape();
    } else {
      fail();
    }
    ++num_entries_;
  }

  std::string read_type() {
    if (accept('[')) {
      throw InputError(fmt::format("{}: holds records; expected one number a cell", name_));
    }
    return read_string();
  }

  std::string read_string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const auto length = text_.find(quote);
    if (length == std::string_view::npos) fail();
    std::string value(text_.substr(0, length));
    text_.remove_prefix(length + 1);
    return value;
  }

  bool read_boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return word == "True";
      }
    }
    fail();
  }

  std::vector<std::int64_t> read_shape() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(read_length());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::int64_t read_length() {
    skip_spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) fail();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    accept('L');  // Python 2's suffix of long integers
    return value;
  }

  void skip_spaces() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }

  bool accept(char c) {
    skip_spaces();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail();
  }

  [[noreturn]] void fail() const {
    throw InputError(fmt::format("{}: its header is damaged", name_));
  }

  std::string_view text_;
  const std::string& name_;
  int num_entries_ = 0;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = 256 * value + static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

// The number of bytes of the field that follows the version and holds the length of the text.
std::size_t size_of_length(char version, const std::string& name) {
  if (version == 1) return 2;
  if (version == 2 || version == 3) return 4;
  throw InputError(fmt::format("{}: is of NPY version {}; expected 1, 2 or 3", name, int{version}));
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kMagic)) throw InputError(name + ": is not an NPY file");
  const auto truncated = [&] { return InputError(name + ": is cut off within its header"); };
  const std::size_t length_at = kMagic.size() + kVersionSize;
  if (bytes.size() < length_at) throw truncated();
  const std::size_t text_at = length_at + size_of_length(bytes[kMagic.size()], name);
  if (bytes.size() < text_at) throw truncated();
  const std::size_t length = little_endian(bytes.substr(length_at, text_at - length_at));
  if (bytes.size() - text_at < length) throw truncated();
  NpyHeader header = DictionaryReader(bytes.substr(text_at, length), name).read();
  header.data_offset = text_at + length;
  return header;
}

std::string format_npy_header(std::int64_t num_rows, std::int64_t num_columns) {
  const std::size_t text_at = kMagic.size() + kVersionSize + 2;
  const auto length = static_cast<char>(kNpyHeaderSize - text_at);
  std::string header(kMagic);
  header += {'\1', '\0', length, '\0'};
  header += fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", num_rows,
                        num_columns);
  assert(header.size() < kNpyHeaderSize);
  header.resize(kNpyHeaderSize - 1, ' ');
  return header + '\n';
}

}  // namespace headwater
