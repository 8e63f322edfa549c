#pragma once

#include <functional>
#include <string>

#include "commands.hpp"

using AddCommands = std::function<void(CLI::App& app, Run& run)>;
using TellFailure = std::function<void(const std::string& message)>;

// The program from its arguments to its exit status, with the commands that add_commands() adds.
// tell() has one line for people if it fails.
int run_headwater(int argc, char** argv, const AddCommands& add_commands, const TellFailure& tell);
