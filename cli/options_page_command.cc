#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "commands.hpp"
#include "option_rows.hpp"

// headwater options-page > docs/options.md

namespace {

using namespace headwater;

constexpr const char* kIntroduction =
    R"(# Options

This page lists every option of every command. `headwater options-page > docs/options.md` writes it
from the tables that also define the command line, the keywords in Python and the checks of values.
A test compares the page with the tables.

`headwater fit --config FILE` reads options from a file of lines `NAME = VALUE`, with the same
names. A flag has no value on the command line; in the file its value is `yes` or `no`. If an option
is given twice, the last value counts, and the command line overrules the file. Each occurrence of
`set` or `hold` adds to a list instead. Model files record the options that the result depends on,
by these names, under `/options`.

The column "Python" has the name of the same option as a keyword in Python. There, `headwater fit`
is `headwater.Stream`, `simulate` is `headwater.simulate`, and `apply` and `score` are functions of
`headwater.Model`; [python.md](python.md) describes them.
)";

// A cell of a table of Markdown.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string line_of(const OptionInfo& row) {
  const bool is_flag = std::holds_alternative<Flag>(row.kind);
  const std::string unless = row.unless.empty() ? "" : ", unless " + row.unless;
  const std::string standard = row.is_required ? "required" + unless : code(row.default_text);
  return fmt::format("| {} | {} | {} | {} | {} |\n",
                     code((row.is_positional ? "" : "--") + row.name),
                     is_flag ? "" : cell(allowed_values(row.kind)),
                     is_flag ? "off" : cell(standard), code(row.python_name), cell(row.help));
}

std::string section_of(const CLI::App& command) {
  std::string sentence = command.get_description();
  sentence[0] = static_cast<char>(std::toupper(sentence[0]));
  std::string page = fmt::format("\n## headwater {}\n\n{}.\n", command.get_name(), sentence);
  std::vector<std::string> groups;
  const std::vector<OptionInfo> rows = rows_of(command);
  for (const OptionInfo& row : rows) {
    if (std::ranges::find(groups, row.group) == groups.end()) groups.push_back(row.group);
  }
  for (const std::string& group : groups) {
    if (!group.empty()) page += fmt::format("\n### {}\n", group);
    page += "\n| option | values | default | Python | |\n|---|---|---|---|---|\n";
    for (const OptionInfo& row : rows) {
      if (row.group == group) page += line_of(row);
    }
  }
  return page;
}

void print_page(const CLI::App& app) {
  fmt::print("{}", kIntroduction);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) fmt::print("{}", section_of(*command));
  }
}

}  // namespace

void add_options_page(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand("options-page", "the page docs/options.md")->group("");
  command.callback([&app, &run] { run = [&app] { print_page(app); }; });
}
