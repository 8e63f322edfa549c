#include "headwater/io/text/csv.hpp"

#include <fmt/format.h>

#include <utility>

#include "headwater/io/text/cell_cutter.hpp"

namespace headwater {
namespace {

constexpr std::string_view kBadQuotes = "the cell opens with a quote but does not end with one";

bool has_outside_quotes(std::string_view line, char wanted) {
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == wanted && !quoted) return true;
  }
  return false;
}

char guess_separator(std::string_view line) {
  for (const char separator : {',', ';', '\t'}) {
    if (has_outside_quotes(line, separator)) return separator;
  }
  return ',';
}

// A line of tabs is blank in a CSV file, but a row of missing cells if tabs are the separator.
bool is_blank(std::string_view line, char separator) {
  for (const char c : line) {
    if (c != ' ' && (c != '\t' || separator == '\t')) return false;
  }
  return true;
}

}  // namespace

CsvSource::CsvSource(LineReader lines, CsvOptions options)
    : rules_(options.rules),
      lines_(std::move(lines)),
      knows_separator_(options.separator.has_value()),
      separator_(options.separator.value_or(',')) {
  read_ahead();
}

CsvSource::CsvSource(TextFile file, CsvOptions options)
    : CsvSource(LineReader(std::move(file.bytes), file.name, options.limits), options) {}

CsvSource::CsvSource(FileDescriptor file, const std::string& name, CsvOptions options)
    : CsvSource(LineReader(std::move(file), name, options.limits), options) {}

bool CsvSource::next(std::vector<double>& values) {
  const auto line = first_row_ ? std::exchange(first_row_, {}) : next_row();
  if (!line) return false;
  if (!half_header_.empty()) throw BadRow(std::exchange(half_header_, {}));
  parse_row(*line, values);
  line_number_ = lines_.line_number();
  return true;
}

std::string CsvSource::position() const {
  return line_number_ == 0 ? lines_.name() : fmt::format("{}:{}", lines_.name(), line_number_);
}

std::optional<std::string_view> CsvSource::next_row() {
  while (auto line = lines_.next()) {
    if (!line->starts_with('#') && !is_blank(*line, separator_)) return line;
  }
  return std::nullopt;
}

// Errors in the first row are thrown by next(), as for any other row, unless they leave the number
// of channels unknown.
void CsvSource::read_ahead() {
  first_row_ = next_row();
  if (!first_row_) {
    throw InputError(fmt::format("{}: holds no {}", lines_.name(), rules_.subject));
  }
  if (!knows_separator_) separator_ = guess_separator(*first_row_);
  num_channels_ = count_cells(*first_row_);
  if (num_channels_ > kMostChannels) {
    throw InputError(
        fmt::format("{}: {} cells; expected at most {}", where(), num_channels_, kMostChannels));
  }
  if (!is_header(*first_row_)) return;
  first_row_ = next_row();
  if (!first_row_) {
    throw InputError(fmt::format("{}: holds a header but no {}", lines_.name(), rules_.subject));
  }
}

bool CsvSource::is_header(std::string_view line) {
  bool has_number = false;
  Index first_name_at = -1;
  std::string_view first_name;
  CellCutter cells(line, separator_);
  for (Index column = 0; !cells.at_end(); ++column) {
    const auto text = cells.cut();
    if (!text) throw InputError(at(column).append(kBadQuotes));
    const CellTrouble trouble = parse_cell(*text).trouble;
    if (trouble == CellTrouble::missing) continue;  // fits a header and a row of numbers alike
    if (trouble != CellTrouble::not_a_number) {
      has_number = true;
    } else if (first_name_at < 0) {
      first_name_at = column;
      first_name = *text;
    }
  }
  if (has_number && first_name_at >= 0) {
    half_header_ = fmt::format(
        "{}{} is not a number, though other cells of the first row are; a header needs a name in "
        "every column",
        at(first_name_at), quote_text(first_name));
    return false;
  }
  return first_name_at >= 0;
}

void CsvSource::parse_row(std::string_view line, std::vector<double>& values) const {
  values.resize(num_channels_);
  CellCutter cells(line, separator_);
  Index column = 0;
  bool are_short = true;  // if one cell is long, the others probably are too
  while (!cells.at_end()) {
    if (column == num_channels_) throw_ragged(count_cells(line));
    double* value = values.data() + column;
    are_short = are_short && column + 1 < num_channels_ && cells.cut_two_numbers(value);
    if (are_short) {
      column += 2;
    } else {
      if (!cells.cut_number(*value)) *value = parse_at(column, cells.cut(), line);
      ++column;
    }
  }
  if (column < num_channels_) throw_ragged(column);
}

double CsvSource::parse_at(Index column, std::optional<std::string_view> text,
                           std::string_view line) const {
  if (!text) throw BadRow(at(column).append(kBadQuotes));
  const Cell cell = parse_cell(*text);
  if (is_acceptable(cell.trouble, rules_)) return cell.value;
  // If the row has the wrong number of cells, report that: the cell may only be in the wrong
  // column.
  if (const Index num_cells = count_cells(line); num_cells != num_channels_) {
    throw_ragged(num_cells);
  }
  throw BadRow(at(column) + describe_trouble(cell.trouble, quote_text(*text), rules_));
}

Index CsvSource::count_cells(std::string_view line) const {
  Index count = 0;
  for (CellCutter cells(line, separator_); !cells.at_end(); ++count) cells.cut();
  return count;
}

std::string CsvSource::where() const {
  return fmt::format("{}:{}", lines_.name(), lines_.line_number());
}

std::string CsvSource::at(Index column) const {
  return fmt::format("{}: column {}: ", where(), column + 1);
}

void CsvSource::throw_ragged(Index num_cells) const {
  throw BadRow(fmt::format("{}: {} cell{} where {} {} expected", where(), num_cells,
                           num_cells == 1 ? "" : "s", num_channels_,
                           num_channels_ == 1 ? "was" : "were"));
}

}  // namespace headwater
