#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headwater/session/option_row.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// Rows of an option table on the command line.

// One option of the command for each row of the table; what is typed goes into the target. Throws
// UsageError, when the command line is read, for a text that is not a value of the option.
template <class Target>
void add_options(CLI::App& command, const headwater::OptionTable<Target>& table, Target& target);

CLI::Option& add_row(CLI::App& command, const headwater::OptionInfo& row,
                     std::function<void(const std::string&)> set);

// The rows that were added to a command, in their order.
std::vector<headwater::OptionInfo> rows_of(const CLI::App& command);

// CLI11 would take the next argument for the value of "--name=". Throws UsageError.
void refuse_empty_values(const std::vector<std::string>& arguments);

template <class Target>
void add_options(CLI::App& command, const headwater::OptionTable<Target>& table, Target& target) {
  for (const headwater::Option<Target>& row : table) {
    add_row(command, row, [row, &target](const std::string& text) {
      headwater::set_from_text(row, target, text);
    });
  }
}
