#include "headwater/io/csv.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "headwater/core/error.hpp"
#include "headwater/io/cell_cutter.hpp"

namespace headwater {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
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

// Where tabs separate, a line of tabs is a row of missing cells.
bool is_blank(std::string_view line, char separator) {
  return line.find_first_not_of(separator == '\t' ? " " : " \t") == std::string_view::npos;
}

}  // namespace

CsvSource::CsvSource(FileDescriptor file, std::string name, CsvOptions options)
    : name_(std::move(name)),
      rules_(options.rules),
      lines_(std::move(file), name_, options.limits),
      knows_separator_(options.separator.has_value()),
      separator_(options.separator.value_or(',')) {
  read_ahead();
}

bool CsvSource::next(std::vector<double>& values) {
  if (!first_row_.empty()) {
    values = std::exchange(first_row_, {});
  } else {
    const auto line = next_row();
    if (!line) return false;
    parse_row(*line, values);
  }
  line_number_ = lines_.line_number();
  return true;
}

std::string CsvSource::position() const {
  return line_number_ == 0 ? name_ : fmt::format("{}:{}", name_, line_number_);
}

std::optional<std::string_view> CsvSource::next_row() {
  while (auto line = lines_.next()) {
    if (lines_.line_number() == 1 && line->starts_with(kByteOrderMark)) {
      line->remove_prefix(kByteOrderMark.size());
    }
    if (!line->starts_with('#') && !is_blank(*line, separator_)) return line;
  }
  return std::nullopt;
}

void CsvSource::read_ahead() {
  auto line = next_row();
  if (!line) throw InputError(fmt::format("{}: holds no {}", name_, rules_.subject));
  if (!knows_separator_) separator_ = guess_separator(*line);
  num_channels_ = count_cells(*line);
  if (is_header(*line)) line = next_row();
  if (!line) throw InputError(fmt::format("{}: holds a header but no {}", name_, rules_.subject));
  parse_row(*line, first_row_);
}

bool CsvSource::is_header(std::string_view line) const {
  bool has_number = false;
  Index first_name_at = -1;
  std::string_view first_name;
  CellCutter cells(line, separator_);
  for (Index column = 0; !cells.at_end(); ++column) {
    const auto text = cells.cut();
    if (!text) throw_at(column, kBadQuotes);
    const CellTrouble trouble = parse_cell(*text).trouble;
    if (trouble == CellTrouble::missing) continue;  // says nothing either way
    if (trouble != CellTrouble::not_a_number) {
      has_number = true;
    } else if (first_name_at < 0) {
      first_name_at = column;
      first_name = *text;
    }
  }
  if (has_number && first_name_at >= 0) {
    throw_at(first_name_at,
             fmt::format("{} is not a number, though other cells of the first row are; a header "
                         "needs a name in every column",
                         quote_text(first_name)));
  }
  return first_name_at >= 0;
}

void CsvSource::parse_row(std::string_view line, std::vector<double>& values) const {
  values.resize(num_channels_);
  CellCutter cells(line, separator_);
  Index column = 0;
  for (; !cells.at_end(); ++column) {
    if (column == num_channels_) throw_ragged(count_cells(line));
    double& value = values[column];
    if (!cells.cut_digits(value)) value = parse_at(column, cells.cut(), line);
  }
  if (column < num_channels_) throw_ragged(column);
}

double CsvSource::parse_at(Index column, std::optional<std::string_view> text,
                           std::string_view line) const {
  if (!text) throw_at(column, kBadQuotes);
  const Cell cell = parse_cell(*text);
  if (is_acceptable(cell.trouble, rules_)) return cell.value;
  // In a row of another shape, the cell is likely to be fine but out of its place.
  if (const Index num_cells = count_cells(line); num_cells != num_channels_) {
    throw_ragged(num_cells);
  }
  throw_at(column, describe_trouble(cell.trouble, quote_text(*text), rules_));
}

Index CsvSource::count_cells(std::string_view line) const {
  Index count = 0;
  for (CellCutter cells(line, separator_); !cells.at_end(); ++count) cells.cut();
  return count;
}

void CsvSource::throw_ragged(Index num_cells) const {
  throw InputError(fmt::format("{}:{}: {} cell{} where {} {} expected", name_, lines_.line_number(),
                               num_cells, num_cells == 1 ? "" : "s", num_channels_,
                               num_channels_ == 1 ? "was" : "were"));
}

void CsvSource::throw_at(Index column, std::string_view what) const {
  throw InputError(
      fmt::format("{}:{}: column {}: {}", name_, lines_.line_number(), column + 1, what));
}

std::unique_ptr<ObservationSource> open_csv(const std::string& name, const CellRules& rules) {
  return std::make_unique<CsvSource>(open_for_reading(name), name, CsvOptions{.rules = rules});
}

std::unique_ptr<ObservationSource> open_tsv(const std::string& name, const CellRules& rules) {
  return std::make_unique<CsvSource>(open_for_reading(name), name,
                                     CsvOptions{.separator = '\t', .rules = rules});
}

std::unique_ptr<ObservationSource> open_standard_input(const CellRules& rules) {
  const std::string name = "standard input";
  return std::make_unique<CsvSource>(duplicate(STDIN_FILENO, name), name,
                                     CsvOptions{.rules = rules});
}

}  // namespace headwater
