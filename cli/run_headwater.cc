#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "config_file.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/model.hpp"
#include "option_rows.hpp"
#include "run_headwater.hpp"
#include "words.hpp"

namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

// A message for people, on one line.
class Failure {
 public:
  explicit Failure(const TellFailure& tell) : tell_(tell) {}
  int operator()(int code, std::string message) const {
    std::ranges::replace(message, '\n', ' ');
    tell_(message);
    return code;
  }

 private:
  const TellFailure& tell_;
};

std::string missing_command(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return "a command is missing: one of " + names + "; headwater --help says more";
}

// The first unknown option, or the first surplus argument.
std::string unexpected_argument(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  const auto option =
      std::ranges::find_if(extras, [](const std::string& text) { return text.starts_with('-'); });
  if (option != extras.end()) return fmt::format("unknown option '{}'", *option);
  return fmt::format("unexpected argument '{}'", extras.front());
}

// What was printed may still be in a buffer, and the disk be full.
void flush_standard_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw headwater::InputError(
        fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
  }
}

int print_help(const CLI::App& app, const CLI::Success& request, const Failure& fail) {
  std::ostringstream text;
  app.exit(request, text, text);
  try {
    fmt::print("{}", text.str());
    flush_standard_output();
    return kDone;
  } catch (const std::exception& error) {
    return fail(kFailed, error.what());
  }
}

}  // namespace

int run_headwater(int argc, char** argv, const AddCommands& add_commands, const TellFailure& tell) {
  const Failure fail(tell);
  open_standard_streams();
  // Writing to a closed pipe, or beyond the limit of a file's size, then fails with an error, which
  // is reported like any other.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);

  CLI::App app("headwater finds the sources of a stream of counts while the stream flows.",
               "headwater");
  // The last of repeated options counts, so that the command line overrides a --config file.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_version_flag("--version", "headwater " + headwater::version());
  app.require_subcommand(0, 1);
  Run run;
  add_hdf5_reader(app, run);
  // A process that reads HDF5 for another one is made of as little as can be.
  if (argc < 2 || !is_hdf5_reader(argv[1])) add_commands(app, run);
  // After the commands, which would inherit it.
  app.footer(
      "headwater COMMAND --help lists the options of a command.\n"
      "A first try:\n"
      "  headwater simulate --prior basis-selection --channels 8 --components 5 --length 20000 \\\n"
      "      --seed 1 --out counts.csv --save-basis truth.csv\n"
      "  headwater fit counts.csv --components 5 --prior basis-selection --out model.h5\n"
      "  headwater show model.h5 --compare truth.csv");

  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    refuse_empty_values(arguments);
    insert_config_file(arguments);
    std::ranges::reverse(arguments);  // the order that CLI11 expects
    app.parse(arguments);
    if (!run) throw headwater::UsageError(missing_command(app));
    run();
    flush_standard_output();
    return kDone;
  } catch (const CLI::Success& request) {  // --help, --version
    return print_help(app, request, fail);
  } catch (const CLI::ExtrasError&) {
    return fail(kBadUsage, unexpected_argument(app));
  } catch (const CLI::FileError& error) {
    return fail(kFailed, error.what());
  } catch (const CLI::ParseError& error) {
    return fail(kBadUsage, error.what());
  } catch (const headwater::UsageError& error) {
    return fail(kBadUsage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kFailed, "out of memory");
  } catch (const std::exception& error) {
    return fail(kFailed, error.what());
  }
}
