#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// --config FILE stands for the options in the file, put before those of the command line, which
// overrule them.

CLI::Option* add_config_option(CLI::App& command);

// Replaces nothing, but inserts "--name=value" for each setting of the file that --config names.
// Throws InputError if the file cannot be read.
void insert_config_file(std::vector<std::string>& arguments);
