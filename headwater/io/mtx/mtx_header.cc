#include "headwater/io/mtx/mtx_header.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

#include "headwater/io/mtx/mtx_words.hpp"
#include "headwater/source.hpp"

namespace headwater {
namespace {

using Words = std::vector<std::string>;

[[noreturn]] void fail(const LineReader& lines, std::string_view what) {
  throw InputError(fmt::format("{}:{}: {}", lines.name(), lines.line_number(), what));
}

Words split_in_small_letters(std::string_view line) {
  Words words;
  for (std::string_view word = cut_word(line); !word.empty(); word = cut_word(line)) {
    std::string& copy = words.emplace_back(word);
    for (char& c : copy) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return words;
}

void check_banner(const LineReader& lines, const Words& words) {
  if (words.empty() || words[0] != "%%matrixmarket") {
    fail(lines, "is not a Matrix Market file, which begins with '%%MatrixMarket'");
  }
  if (words.size() != 5) {
    fail(lines,
         "expected five words: %%MatrixMarket matrix coordinate|array real|integer|pattern "
         "general");
  }
  if (words[1] != "matrix") {
    fail(lines, fmt::format("{}; expected a 'matrix'", quote_text(words[1])));
  }
  if (words[2] != "coordinate" && words[2] != "array") {
    fail(lines, fmt::format("{}; expected 'coordinate' or 'array'", quote_text(words[2])));
  }
  if (words[4] != "general") {
    fail(lines, fmt::format("the matrix is {}; expected 'general'", quote_text(words[4])));
  }
}

// False for "pattern", whose entries have no values.
bool field_has_values(const LineReader& lines, const std::string& field, bool is_sparse) {
  for (const char* known : {"real", "double", "integer", "unsigned-integer"}) {
    if (field == known) return true;
  }
  if (field == "pattern" && is_sparse) return false;
  fail(lines, fmt::format("entries are {}; expected 'real'{} 'integer'{}", quote_text(field),
                          is_sparse ? "," : " or", is_sparse ? " or 'pattern'" : ""));
}

std::string_view next_line_of_sizes(LineReader& lines) {
  while (const auto line = lines.next()) {
    if (!line->starts_with('%') && !is_blank_line(*line)) return *line;
  }
  throw InputError(fmt::format("{}: ends before the line of sizes", lines.name()));
}

std::int64_t cut_size(const LineReader& lines, std::string_view& line, std::string_view what) {
  const std::string_view word = cut_word(line);
  std::int64_t size = 0;
  const char* last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, size);
  if (error != std::errc() || end != last || size < 0) {
    fail(lines, fmt::format("{} where the number of {} was expected", quote_text(word), what));
  }
  return size;
}

void check_sizes(const LineReader& lines, const MtxHeader& header, const CellRules& rules) {
  if (header.num_rows == 0 || header.num_columns == 0) {
    throw InputError(fmt::format("{}: holds no {}", lines.name(), rules.subject));
  }
  if (header.num_rows > std::numeric_limits<std::uint32_t>::max()) {
    fail(lines, fmt::format("{} rows; expected below 2^32", header.num_rows));
  }
  if (header.num_columns > kMostChannels) {
    fail(lines, fmt::format("{} columns; expected at most {}", header.num_columns, kMostChannels));
  }
}

}  // namespace

MtxHeader read_mtx_header(LineReader& lines, const CellRules& rules) {
  const auto banner = lines.next();
  if (!banner) throw InputError(fmt::format("{}: holds no {}", lines.name(), rules.subject));
  const Words words = split_in_small_letters(*banner);
  check_banner(lines, words);
  MtxHeader header;
  header.is_sparse = words[2] == "coordinate";
  header.has_values = field_has_values(lines, words[3], header.is_sparse);
  std::string_view line = next_line_of_sizes(lines);
  header.size_line = lines.line_number();
  header.num_rows = cut_size(lines, line, "rows");
  header.num_columns = cut_size(lines, line, "columns");
  check_sizes(lines, header, rules);
  // The product cannot overflow: neither factor is above 2^32.
  header.num_entries =
      header.is_sparse ? cut_size(lines, line, "entries") : header.num_rows * header.num_columns;
  if (const std::string_view more = cut_word(line); !more.empty()) {
    fail(lines, fmt::format("{} where the line was expected to end", quote_text(more)));
  }
  return header;
}

}  // namespace headwater
