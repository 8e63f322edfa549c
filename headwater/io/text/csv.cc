#include "headwater/io/text/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "headwater/io/text/cell_cutter.hpp"

namespace headwater {
namespace {

constexpr std::string_view kBadQuotes = "the cell opens with a quote but does not end with one";

// 0,1,2 over three columns or more is what pandas writes over columns without names; 0 and 0,1 are
// common observations.
constexpr Index kFewestNumbered = 3;
// Numbers of a first row that are no larger may be counts, though those of the second are less.
constexpr double kLeastCode = 100;

bool has_outside_quotes(std::string_view line, char wanted) {
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == wanted && !quoted) return true;
  }
  return false;
}

// cell: a part of the line.
bool is_within_quotes(std::string_view cell, std::string_view line) {
  return cell.data() > line.data() && cell.data()[-1] == '"';
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

// What spreadsheets write where there is no value: not the beginning of a comment.
constexpr std::string_view kSpreadsheetMarks[] = {
    "#N/A", "#NA", "#N/A N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"};

bool is_comment(std::string_view line, char separator) {
  if (!line.starts_with('#')) return false;
  std::string_view first = line.substr(0, line.find(separator));
  while (first.ends_with(' ')) first.remove_suffix(1);
  return std::ranges::find(kSpreadsheetMarks, first) == std::end(kSpreadsheetMarks);
}

}  // namespace

CsvSource::CsvSource(LineReader lines, const CsvOptions& options)
    : header_(options.header),
      options_{options.index_column, options.sequence_column, options.time_column},
      rules_(options.rules),
      lines_(std::move(lines)),
      knows_separator_(options.separator.has_value()),
      separator_(options.separator.value_or(',')),
      sequences_(options.memory.sequence),
      earlier_header_(options.memory.header) {
  read_ahead();
}

CsvSource::CsvSource(TextFile file, const CsvOptions& options)
    : CsvSource(LineReader(std::move(file.bytes), file.name, options.limits), options) {}

CsvSource::CsvSource(FileDescriptor file, const std::string& name, const CsvOptions& options)
    : CsvSource(LineReader(std::move(file), name, options.limits), options) {}

bool CsvSource::next(std::vector<double>& values) {
  const bool is_first = first_row_.has_value();
  const auto line = is_first ? std::exchange(first_row_, {}) : next_row();
  if (!line) return false;
  if (!is_agreed_ && !is_first) check_agreement(*line);
  ++num_rows_;
  RowTexts texts;
  parse_row(*line, values, texts);
  if (columns_.sequence >= 0) sequences_.see(texts.sequence, at(columns_.sequence));
  time_text_ = texts.time;
  line_number_ = lines_.line_number();
  return true;
}

std::string CsvSource::position() const {
  return line_number_ == 0 ? lines_.name() : fmt::format("{}:{}", lines_.name(), line_number_);
}

std::string CsvSource::unread(bool with_last_row) const {
  const bool has_first_row = num_rows_ > (with_last_row ? 1 : 0);
  std::string rows = lines_.unread(with_last_row || first_row_);
  return has_first_row || header_line_.empty() ? rows : header_line_ + "\n" + rows;
}

void CsvSource::remember(SourceMemory& memory, bool with_last_row) const {
  memory.header = header_line_.empty() ? earlier_header_ : header_line_;
  memory.sequence = with_last_row ? sequences_.label_before() : sequences_.label();
}

// The next line that is neither blank nor a comment.
std::optional<std::string_view> CsvSource::next_line() {
  while (auto line = lines_.next()) {
    // A new file under the name of one that is followed has its header again.
    const bool is_header_again = lines_.num_replaced() > 0 && lines_.line_number() == 1 &&
                                 !header_line_.empty() && *line == header_line_;
    if (is_header_again || is_comment(*line, separator_)) continue;
    if (!is_blank(*line, separator_)) return line;
    if (num_cells_ == 1) blank_line_ = lines_.line_number();
  }
  return std::nullopt;
}

// A blank line in a file of one column is refused when the next row has come: at the end of a file
// it means nothing. The row itself is kept for the next call.
std::optional<std::string_view> CsvSource::next_row() {
  auto line = next_line();
  if (!line || blank_line_ == 0) return line;
  first_row_ = line;
  throw BadRow(fmt::format(
      "{}:{}: a blank line in a file of one column; write NA for a missing cell, or leave it out",
      lines_.name(), std::exchange(blank_line_, 0)));
}

// Errors in the first row are thrown by next(), as for any other row, unless they leave the number
// of channels unknown.
void CsvSource::read_ahead() {
  first_row_ = next_line();
  if (!first_row_) {
    if (lines_.was_stopped()) return;
    throw InputError(fmt::format("{}: holds no {}", lines_.name(), rules_.subject));
  }
  if (!knows_separator_) separator_ = guess_separator(*first_row_);
  num_cells_ = count_cells(*first_row_);
  first_line_ = lines_.line_number();
  if (num_cells_ > kMostChannels) {
    throw InputError(
        fmt::format("{}: {} cells; expected at most {}", where(), num_cells_, kMostChannels));
  }
  if (is_header(*first_row_)) {
    take_header(*first_row_);
  } else {
    find_special(earlier_names());
    if (header_ == HeaderRow::automatic) look_for_names(*first_row_);
  }
  num_channels_ = num_cells_ - static_cast<Index>(special_.size()) + 1;
  if (num_channels_ == 0) {
    throw InputError(fmt::format("{}: has no column but its index", lines_.name()));
  }
}

void CsvSource::take_header(std::string_view line) {
  is_agreed_ = true;
  header_line_ = line;
  const std::vector<std::string> names = cells_of(line);
  find_special(names);
  first_row_ = next_line();
  blank_line_ = 0;
  if (!first_row_) {
    if (lines_.was_stopped()) return;
    throw InputError(fmt::format("{}: holds a header but no {}", lines_.name(), rules_.subject));
  }
}

std::vector<std::string> CsvSource::cells_of(std::string_view line) const {
  std::vector<std::string> texts;
  if (line.empty()) return texts;
  const std::string readable = std::string(line) + std::string(kReadBehind, '\0');
  CellCutter cells({readable.data(), line.size()}, separator_);
  while (!cells.at_end()) {
    std::string& text = texts.emplace_back();
    const auto cell = cells.cut();
    for (std::size_t i = 0; cell && i < cell->size(); ++i) {
      text += (*cell)[i];
      if (cell->substr(i, 2) == "\"\"") ++i;  // a quote within quotes is doubled
    }
  }
  return texts;
}

std::vector<std::string> CsvSource::earlier_names() const {
  std::vector<std::string> names = cells_of(earlier_header_);
  if (static_cast<Index>(names.size()) != num_cells_) names.clear();  // of other data
  return names;
}

// names: of all columns; empty if there is no header.
void CsvSource::find_special(const std::vector<std::string>& names) {
  columns_ = find_columns(options_, names, num_cells_,
                          {lines_.name(), where(), rules_.subject, header_ != HeaderRow::by_names});
  special_ = columns_.in_order();
  for (Index column = 0; column < static_cast<Index>(names.size()); ++column) {
    if (!columns_.contains(column)) names_.push_back(names[column]);
  }
}

// In a file without a header the first row sets the number of cells. If the second one has another
// number, nobody knows which of the two is wrong: the file is refused, not the row.
void CsvSource::check_agreement(std::string_view line) {
  Index num_cells = 0;
  for (CellCutter cells(line, separator_); !cells.at_end(); ++num_cells) {
    if (!cells.cut()) return;  // quotes that nobody can count cells by
  }
  is_agreed_ = true;
  if (num_cells == num_cells_) return refuse_names_above(line);
  throw InputError(fmt::format(
      "{}: {} cell{} where line {} has {}; the first two rows must have the same number", where(),
      num_cells, num_cells == 1 ? "" : "s", first_line_, num_cells_));
}

bool CsvSource::is_header(std::string_view line) const {
  if (header_ == HeaderRow::present) return true;
  if (header_ == HeaderRow::absent) return false;
  if (has_a_name(line)) return true;
  if (header_ == HeaderRow::automatic) refuse_numbers_like_names(line);
  return false;
}

// A missing cell says nothing either way, nor does one that is no channel.
bool CsvSource::has_a_name(std::string_view line) const {
  bool found = false;
  const SpecialColumns special =
      earlier_header_.empty()
          ? numbered_columns(options_)
          : find_columns(options_, earlier_names(), num_cells_,
                         {lines_.name(), where(), rules_.subject, header_ != HeaderRow::by_names});
  CellCutter cells(line, separator_);
  for (Index column = 0; !cells.at_end(); ++column) {
    const auto text = cells.cut();
    if (!text) throw InputError(at(column).append(kBadQuotes));
    if (special.contains(column)) continue;
    found = found || parse_cell(*text).trouble == CellTrouble::not_a_number;
  }
  return found;
}

void CsvSource::refuse_numbers_like_names(std::string_view line) const {
  Index num_numbered = 0;  // columns numbered 0, 1, 2, ... so far
  bool are_numbered = true;
  CellCutter cells(line, separator_);
  for (Index column = 0; !cells.at_end(); ++column) {
    const std::string_view text = *cells.cut();
    const Cell cell = parse_cell(text);
    // A name that reads as a number, such as 15E30, is likelier than such a count.
    if (cell.trouble == CellTrouble::out_of_range) {
      throw_doubtful(first_line_, fmt::format("column {}: {} is beyond {:g}", column + 1,
                                              quote_text(text), kLargestCount));
    }
    if (column == 0 && cell.trouble == CellTrouble::missing) continue;  // above an index
    are_numbered = are_numbered && text == std::to_string(num_numbered++);
  }
  if (are_numbered && num_numbered >= kFewestNumbered) {
    throw_doubtful(first_line_,
                   fmt::format("the first row numbers the columns from 0 to {}", num_numbered - 1));
  }
}

// Codes of districts, years and the like are numbers; R writes quotes around names alone.
void CsvSource::look_for_names(std::string_view first_row) {
  is_quoted_ = num_cells_ > 1;
  std::vector<double> codes;
  CellCutter cells(first_row, separator_);
  for (Index column = 0; !cells.at_end(); ++column) {
    const std::string_view text = *cells.cut();
    is_quoted_ = is_quoted_ && is_within_quotes(text, first_row);
    if (columns_.contains(column)) continue;
    const Cell cell = parse_cell(text);
    if (cell.trouble != CellTrouble::none || cell.value != std::floor(cell.value)) return;
    codes.push_back(cell.value);
  }
  std::ranges::sort(codes);
  const bool all_differ = std::ranges::adjacent_find(codes) == codes.end();
  if (std::ssize(codes) >= kFewestNumbered && all_differ) least_code_ = codes.front();
}

// A first row whose numbers all differ, and of which each is larger than any in the second row.
void CsvSource::refuse_names_above(std::string_view second_row) const {
  bool is_quoted = false;
  bool has_number = false;
  bool is_below = least_code_ >= kLeastCode;
  CellCutter cells(second_row, separator_);
  for (Index column = 0; !cells.at_end(); ++column) {
    const std::string_view text = *cells.cut();
    is_quoted = is_quoted || is_within_quotes(text, second_row);
    if (columns_.contains(column)) continue;
    const Cell cell = parse_cell(text);
    const bool is_number = cell.trouble == CellTrouble::none;
    has_number = has_number || is_number;
    is_below =
        is_below && (is_number ? cell.value < least_code_ : cell.trouble == CellTrouble::missing);
  }
  if (is_quoted_ && !is_quoted) {
    throw_doubtful(first_line_, "the first row is in quotes and the second is not");
  }
  if (is_below && has_number) {
    throw_doubtful(first_line_, fmt::format("the numbers of the first row all differ and are {:g} "
                                            "or more, those of the second are less",
                                            least_code_));
  }
}

void CsvSource::throw_doubtful(std::int64_t line, std::string_view what) const {
  throw InputError(
      fmt::format("{}:{}: {}; say --header yes if this row holds names, --header no if it holds {}",
                  lines_.name(), line, what, rules_.subject));
}

void CsvSource::parse_row(std::string_view line, std::vector<double>& values,
                          RowTexts& texts) const {
  values.resize(num_channels_);
  auto special = special_.begin();  // the next column that is no channel
  double* value = values.data();
  CellCutter cells(line, separator_);
  Index column = 0;
  bool are_short = true;  // if one cell is long, the others probably are too
  while (!cells.at_end()) {
    if (column == num_cells_) throw_ragged(count_cells(line));
    if (column == *special) {
      const auto text = cells.cut();
      if (!text) throw BadRow(at(column).append(kBadQuotes));
      if (column == columns_.sequence) texts.sequence = *text;
      if (column == columns_.time) texts.time = *text;
      ++special;
      ++column;
      continue;
    }
    const bool are_two = column + 1 < num_cells_ && column + 1 != *special;
    are_short = are_short && are_two && cells.cut_two_numbers(value);
    if (are_short) {
      column += 2;
      value += 2;
    } else {
      if (!cells.cut_number(*value)) *value = parse_at(column, cells.cut(), line);
      ++column;
      ++value;
    }
  }
  if (column < num_cells_) throw_ragged(column);
}

double CsvSource::parse_at(Index column, std::optional<std::string_view> text,
                           std::string_view line) const {
  if (!text) throw BadRow(at(column).append(kBadQuotes));
  const Cell cell = parse_cell(*text);
  if (is_acceptable(cell.trouble, rules_)) return cell.value;
  // If the row has the wrong number of cells, report that: the cell may only be in the wrong
  // column.
  if (const Index num_cells = count_cells(line); num_cells != num_cells_) {
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
                           num_cells == 1 ? "" : "s", num_cells_,
                           num_cells_ == 1 ? "was" : "were"));
}

}  // namespace headwater
