#include "headwater/io/text/json_lines.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace headwater {
namespace {

constexpr std::string_view kWanted = "an array of numbers, or an object that has one under \"y\"";
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string_view without_quotes(std::string_view value) {
  return value.starts_with('"') ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

JsonLinesSource::JsonLinesSource(TextFile file, const CellRules& rules, JsonFields fields,
                                 LineLimits limits)
    : rules_(rules),
      fields_(std::move(fields)),
      sequences_(fields_.last_sequence),
      lines_(std::move(file.bytes), std::move(file.name), limits) {
  is_read_ahead_ = read_row(row_);
  if (!is_read_ahead_) {
    if (lines_.was_stopped()) return;
    throw InputError(fmt::format("{}: holds no {}", lines_.name(), rules_.subject));
  }
  num_channels_ = static_cast<Index>(row_.values.size());
  if (num_channels_ == 0) throw InputError(at(1) + "the array is empty");
  if (num_channels_ > kMostChannels) {
    throw InputError(fmt::format("{}:{}: {} numbers; expected at most {}", lines_.name(),
                                 lines_.line_number(), num_channels_, kMostChannels));
  }
}

bool JsonLinesSource::next(std::vector<double>& values) {
  const bool is_first = std::exchange(is_read_ahead_, false);
  if (!is_first && !read_row(row_)) return false;
  const auto count = static_cast<Index>(row_.values.size());
  const bool is_second = !is_first && !std::exchange(has_second_row_, true);
  if (is_second && count != num_channels_) {
    throw InputError(fmt::format(
        "{}:{}: {} number{} where the first row has {}; the first two rows must have the same "
        "number",
        lines_.name(), lines_.line_number(), count, count == 1 ? "" : "s", num_channels_));
  }
  if (count != num_channels_) {
    throw BadRow(fmt::format("{}:{}: {} number{} where {} {} expected", lines_.name(),
                             lines_.line_number(), count, count == 1 ? "" : "s", num_channels_,
                             num_channels_ == 1 ? "was" : "were"));
  }
  if (!row_.trouble.empty()) throw BadRow(row_.trouble);
  if (!fields_.sequence.empty()) {
    sequences_.see(row_.sequence, fmt::format("{}:{}: {}: ", lines_.name(), lines_.line_number(),
                                              quote_text(fields_.sequence)));
  }
  values.assign(row_.values.begin(), row_.values.end());
  line_number_ = lines_.line_number();
  time_ = row_.time.empty() ? "" : quote_text(row_.time);
  return true;
}

std::string JsonLinesSource::position() const {
  if (line_number_ == 0) return lines_.name();
  const std::string place = fmt::format("{}:{}", lines_.name(), line_number_);
  return time_.empty() ? place : fmt::format("{} (t = {})", place, time_);
}

bool JsonLinesSource::read_row(Row& row) {
  auto line = lines_.next();
  while (line && line->find_first_not_of(" \t\r") == std::string_view::npos) line = lines_.next();
  if (!line) return false;
  try {
    parse(*line, row);
  } catch (const JsonTrouble& trouble) {
    throw BadRow(at(trouble.column()) + trouble.what());
  }
  return true;
}

void JsonLinesSource::parse(std::string_view line, Row& row) const {
  row.values.clear();
  row.trouble.clear();
  row.time = {};
  row.sequence = {};
  row.stamp = {};
  JsonScanner json(line);
  if (json.peek() == '{') {
    parse_object(json, row);
  } else {
    parse_array(json, row);
  }
  json.expect_end();
}

void JsonLinesSource::parse_object(JsonScanner& json, Row& row) const {
  bool has_values = false;
  json.expect('{', "{");
  do {
    const std::size_t column = json.column();
    const std::string_view name = json.read_string("a name in quotes");
    json.expect(':', "':'");
    if (name == "y") {
      if (has_values) throw JsonTrouble(column, "a second \"y\"");
      parse_array(json, row);
      has_values = true;
    } else {
      const std::string_view value = json.skip_value();
      if (name == "t") row.time = without_quotes(value);
      if (name == fields_.sequence) row.sequence = without_quotes(value);
      if (name == fields_.time) row.stamp = without_quotes(value);
    }
  } while (json.accept(','));
  json.expect('}', "',' or '}'");
  if (!has_values) throw JsonTrouble(1, "the object has no \"y\"; expected an array of numbers");
}

void JsonLinesSource::parse_array(JsonScanner& json, Row& row) const {
  json.expect('[', kWanted);
  if (json.accept(']')) return;
  do {
    double value = 0;
    if (!json.read_digits_only(value)) value = parse_value(json, row);
    row.values.push_back(value);
  } while (json.accept(','));
  json.expect(']', "',' or ']'");
}

double JsonLinesSource::parse_value(JsonScanner& json, Row& row) const {
  const std::size_t column = json.column();
  const std::string_view word = json.read_word();
  if (word.empty()) json.fail("a number or null");
  const Cell cell = word == "null" ? Cell{kMissing, CellTrouble::missing} : parse_cell(word);
  if (!is_acceptable(cell.trouble, rules_) && row.trouble.empty()) {
    row.trouble = at(column) + describe_trouble(cell.trouble, quote_text(word), rules_);
  }
  return cell.value;
}

std::string JsonLinesSource::at(std::size_t column) const {
  return fmt::format("{}:{}: column {}: ", lines_.name(), lines_.line_number(), column);
}

}  // namespace headwater
