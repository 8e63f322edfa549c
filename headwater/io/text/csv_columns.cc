#include "headwater/io/text/csv_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "headwater/error.hpp"
#include "headwater/io/cell.hpp"

namespace headwater {
namespace {

// Names that a first column of row numbers or of times usually has, in lower case.
constexpr std::array<std::string_view, 8> kNumberRows = {
    "unnamed: 0", "index", "id", "idx", "row", "row_id", "rowname", "row_number"};
constexpr std::array<std::string_view, 10> kDateRows = {
    "t", "time", "timestamp", "date", "datetime", "day", "datehour", "week", "month", "year"};

// What a first column of this name may do to the rows; nothing for most names.
std::string_view what_it_may_do(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (std::ranges::find(kNumberRows, name) != kNumberRows.end()) return "number";
  if (std::ranges::find(kDateRows, name) != kDateRows.end()) return "date";
  return "";
}

std::optional<Index> number_in(const std::string& text) {
  Index number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || number < 1) return std::nullopt;
  return number - 1;
}

// -1 for an option that is not given.
Index find_column(std::string_view option, const std::string& text,
                  const std::vector<std::string>& names, Index num_cells, const TableWords& words) {
  if (text.empty()) return -1;
  const auto named = std::ranges::find(names, text);
  if (named != names.end()) return named - names.begin();
  const auto number = number_in(text);
  if (number && *number < num_cells) return *number;
  throw InputError(fmt::format("{}: {} {}: {}; expected {}a number from 1 to {}", words.name,
                               option, quote_text(text),
                               names.empty() ? "there is no header" : "no column has this name",
                               names.empty() ? "" : "a name in the header, or ", num_cells));
}

Index default_index(const std::vector<std::string>& names, const TableWords& words) {
  if (names.size() < 2) return -1;
  // Above an index, pandas and R write an empty name.
  if (names[0].empty()) return 0;
  const std::string_view does = what_it_may_do(names[0]);
  if (does.empty()) return -1;
  const std::string_view or_time = does == "date" ? " or --time-column 1" : "";
  throw InputError(fmt::format(
      "{}: column 1 is called {} and may {} the rows; {}", words.where, quote_text(names[0]), does,
      words.may_say_index
          ? fmt::format("say --index-column 1{} if it does, --index-column none if it holds {}",
                        or_time, words.subject)
          : "leave it out, or call it otherwise"));
}

void refuse_two_uses(Index one, Index other, std::string_view options, const TableWords& words) {
  if (one < 0 || one != other) return;
  throw InputError(fmt::format("{}: {} both name column {}", words.name, options, one + 1));
}

}  // namespace

std::vector<Index> SpecialColumns::in_order() const {
  std::vector<Index> columns = {index, sequence, time};
  std::erase(columns, -1);
  std::ranges::sort(columns);
  columns.push_back(std::numeric_limits<Index>::max());
  return columns;
}

SpecialColumns numbered_columns(const ColumnOptions& options) {
  return {-1, number_in(options.sequence).value_or(-1), number_in(options.time).value_or(-1)};
}

SpecialColumns find_columns(const ColumnOptions& options, const std::vector<std::string>& names,
                            Index num_cells, const TableWords& words) {
  SpecialColumns columns;
  columns.sequence = find_column("--sequence-column", options.sequence, names, num_cells, words);
  columns.time = find_column("--time-column", options.time, names, num_cells, words);
  if (options.index.empty() && !columns.contains(0)) {
    columns.index = default_index(names, words);
  } else if (options.index != "none") {
    columns.index = find_column("--index-column", options.index, names, num_cells, words);
  }
  refuse_two_uses(columns.index, columns.sequence, "--index-column and --sequence-column", words);
  refuse_two_uses(columns.index, columns.time, "--index-column and --time-column", words);
  refuse_two_uses(columns.sequence, columns.time, "--sequence-column and --time-column", words);
  return columns;
}

}  // namespace headwater
