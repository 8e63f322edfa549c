#pragma once

#include <string>
#include <vector>

// --config FILE stands for the options in the file, put before those of the command line, which
// overrule them.

// Replaces nothing, but inserts "--name=value" for each setting of the file that --config names.
// Throws InputError if the file cannot be read, UsageError if a line has no value.
void insert_config_file(std::vector<std::string>& arguments);
