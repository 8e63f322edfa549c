#pragma once

#include <functional>

namespace CLI {
class App;
}

// Each function adds one subcommand to the app. Parsing its options sets `run` to the action to
// perform.
using Run = std::function<void()>;
void add_simulate(CLI::App& app, Run& run);
void add_fit(CLI::App& app, Run& run);
void add_apply(CLI::App& app, Run& run);
void add_score(CLI::App& app, Run& run);
void add_forecast(CLI::App& app, Run& run);
void add_compare(CLI::App& app, Run& run);
void add_watch(CLI::App& app, Run& run);
void add_show(CLI::App& app, Run& run);
void add_report(CLI::App& app, Run& run);
void add_hdf5_reader(CLI::App& app, Run& run);   // not for people: see hdf5_reader.hpp
void add_options_page(CLI::App& app, Run& run);  // not for people: writes docs/options.md
