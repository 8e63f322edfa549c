#include "config_file.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "headwater/core/error.hpp"

namespace {

constexpr const char* kName = "--config";

std::string named_file(const std::vector<std::string>& arguments) {
  const std::string with_equals = std::string(kName) + "=";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kName && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].starts_with(with_equals)) return arguments[i].substr(with_equals.size());
  }
  return "";
}

}  // namespace

CLI::Option* add_config_option(CLI::App& command) {
  return command
      .add_option_function<std::string>(
          kName, [](const std::string&) {},
          "read options from a file of NAME = VALUE lines; the command line overrules it")
      ->type_name("FILE");
}

void insert_config_file(std::vector<std::string>& arguments) {
  const std::string name = named_file(arguments);
  if (name.empty()) return;
  std::ifstream file(name);
  if (!file) {
    throw headwater::InputError(
        fmt::format("{}: cannot be opened: {}", name, std::strerror(errno)));
  }
  std::vector<std::string> settings;
  for (const CLI::ConfigItem& item : CLI::ConfigBase().from_config(file)) {
    for (const std::string& value : item.inputs) {
      settings.push_back(fmt::format("--{}={}", item.name, value));
    }
  }
  // Inserted after the first argument, the command that the options belong to.
  arguments.insert(arguments.begin() + 1, settings.begin(), settings.end());
}
