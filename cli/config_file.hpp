#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// --config FILE inserts the options of a file before those of the command line, which take
// precedence.

CLI::Option* add_config_option(CLI::App& command);

// Inserts "--name=value" for each setting of the file that --config names. Throws InputError if the
// file cannot be read.
void insert_config_file(std::vector<std::string>& arguments);
