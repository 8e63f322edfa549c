#include "config_file.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "headwater/error.hpp"

using headwater::InputError;
using headwater::UsageError;

namespace {

constexpr const char* kName = "--config";

std::vector<std::string> named_files(const std::vector<std::string>& arguments) {
  const std::string with_equals = std::string(kName) + "=";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kName && i + 1 < arguments.size()) names.push_back(arguments[i + 1]);
    if (arguments[i].starts_with(with_equals)) {
      names.push_back(arguments[i].substr(with_equals.size()));
    }
  }
  std::erase(names, "");  // which the option itself refuses
  return names;
}

[[noreturn]] void refuse(const std::string& name, int reason) {
  throw InputError(fmt::format("{}: cannot be opened: {}", name, std::strerror(reason)));
}

// "--name=value" for each setting.
std::vector<std::string> settings_of(const std::string& name) {
  std::ifstream file(name);
  if (!file) refuse(name, errno);
  if (std::filesystem::is_directory(name)) refuse(name, EISDIR);  // opens, but cannot be read
  std::vector<std::string> settings;
  for (const CLI::ConfigItem& item : CLI::ConfigBase().from_config(file)) {
    if (std::string(kName) == "--" + item.name) {
      throw UsageError(fmt::format("{}: a config file cannot name another config file", name));
    }
    if (item.inputs.empty() || item.inputs == std::vector<std::string>{""}) {
      throw UsageError(fmt::format("{}: {} has no value", name, item.name));
    }
    for (const std::string& value : item.inputs) {
      settings.push_back(fmt::format("--{}={}", item.name, value));
    }
  }
  return settings;
}

}  // namespace

void insert_config_file(std::vector<std::string>& arguments) {
  std::vector<std::string> settings;
  for (const std::string& name : named_files(arguments)) {
    const std::vector<std::string> more = settings_of(name);
    settings.insert(settings.end(), more.begin(), more.end());
  }
  if (settings.empty()) return;
  // The first argument is the command that the options belong to.
  arguments.insert(arguments.begin() + 1, settings.begin(), settings.end());
}
