#include "option_rows.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "headwater/error.hpp"

using namespace headwater;

namespace {

bool is_number(const OptionKind& kind) {
  return std::holds_alternative<WholeNumber>(kind) || std::holds_alternative<RealNumber>(kind);
}

std::string described(const OptionInfo& row) {
  const std::string unless =
      row.unless.empty() ? "" : fmt::format("; required, unless {} is given", row.unless);
  return is_number(row.kind) ? fmt::format("{} ({}){}", row.help, allowed_values(row.kind), unless)
                             : row.help + unless;
}

// Prints the --help of a command, and knows its rows.
class RowFormatter : public CLI::Formatter {
 public:
  std::vector<OptionInfo> rows;
};

RowFormatter& formatter_of(CLI::App& command) {
  auto formatter = std::dynamic_pointer_cast<RowFormatter>(command.get_formatter());
  if (!formatter) {
    formatter = std::make_shared<RowFormatter>();
    command.formatter(formatter);
  }
  return *formatter;
}

}  // namespace

CLI::Option& add_row(CLI::App& command, const OptionInfo& row,
                     std::function<void(const std::string&)> set) {
  formatter_of(command).rows.push_back(row);
  const std::string name = row.is_positional ? row.name : "--" + row.name;
  const bool is_flag = std::holds_alternative<Flag>(row.kind);
  const bool is_list = std::holds_alternative<NameList>(row.kind);
  const auto set_all = [set](const CLI::results_t& texts) {
    for (const std::string& text : texts) set(text);
    return true;
  };
  CLI::Option& option =
      is_flag ? *command.add_flag_function(
                    name, [set](std::int64_t count) { set(count > 0 ? "yes" : "no"); }, row.help)
              : *command.add_option(name, CLI::callback_t(set_all), described(row));
  if (!row.group.empty() && !row.is_positional) option.group(row.group);
  if (row.is_required && row.unless.empty()) option.required();
  if (is_flag) return option;
  if (!row.is_positional) {
    option.type_name(row.value_name.empty() ? default_value_name(row.kind) : row.value_name);
  }
  if (is_list && row.is_positional) option.expected(-1);  // one or more
  if (is_list) option.take_all();
  if (!row.is_required && !row.default_text.empty()) option.default_str(row.default_text);
  return option;
}

std::vector<OptionInfo> rows_of(const CLI::App& command) {
  const auto formatter = std::dynamic_pointer_cast<RowFormatter>(command.get_formatter());
  return formatter ? formatter->rows : std::vector<OptionInfo>();
}

void refuse_empty_values(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--") && argument.find('=') + 1 == argument.size()) {
      throw UsageError(fmt::format("{}: expected a value behind the '='", argument));
    }
  }
}
