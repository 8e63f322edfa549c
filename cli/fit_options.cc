#include "fit_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/session/component_choice.hpp"
#include "run_files.hpp"
#include "serve/server.hpp"

using namespace headwater;

namespace {

using namespace headwater::rows;

// The name of a start, or else the name of a file with the basis.
Option<FitOptions> init_row() {
  Option<FitOptions> row = within(&FitOptions::settings, *find_by_name(config_options(), "init"));
  row.set = [by_name = row.set](FitOptions& options, const std::string& given) {
    options.init_file = by_name(options, given) ? "" : given;
    return !given.empty();
  };
  return row;
}

// One number, or several to choose from. Config has room for the first of them.
Option<FitOptions> components_row() {
  Option<FitOptions> row =
      within(&FitOptions::settings, *find_by_name(config_options(), "components"));
  row.kind = FreeText{"a number, a range A..B or a list A,B,C"};
  row.value_name = "K|A..B|A,B,C";
  row.help =
      "number of components, the sources to be found; if there are several numbers, all are fitted "
      "side by side, and the model is the smallest that predicts as well as the best within one "
      "standard error or .001 nats a cell";
  row.set = [](FitOptions& options, const std::string& given) {
    options.candidates = parse_candidates(given);
    options.settings.num_components = options.candidates.front();
    return true;
  };
  return row;
}

OptionTable<FitOptions> settings_rows() {
  OptionTable<FitOptions> table = within(&FitOptions::settings, config_options());
  for (Option<FitOptions>& row : table) {
    if (row.name == "init") row = init_row();
    if (row.name == "components") row = components_row();
    if (row.is_required) row.unless = "--continue or --init MODEL";
    row.set = [name = row.name, set = row.set](FitOptions& options, const std::string& given) {
      options.typed.emplace_back(name, given);
      return set(options, given);
    };
  }
  return table;
}

OptionTable<FitOptions> continue_rows() {
  return {text({.name = "continue",
                .value_name = "MODEL",
                .help = "continue the fit of this model with DATA, which must follow on. Options, "
                        "estimate, statistics, step sizes and activations are taken from the "
                        "model; for data that do not follow on, use --init MODEL"},
               &FitOptions::continued, kFileName),
          whole_number({.name = "forget",
                        .value_name = "T",
                        .help = "with --continue or --init MODEL: go on as if the model had seen "
                                "only T observations, so that new ones weigh more; 0: all of them"},
                       &FitOptions::forget, 0, kMostObservations)};
}

OptionTable<FitOptions> output_rows() {
  return {
      text({.name = "out",
            .value_name = "MODEL",
            .help = "model file to write (HDF5)",
            .is_required = true},
           &FitOptions::out, kFileName),
      text({.name = "log",
            .value_name = "FILE",
            .help = "JSON lines, one for each observation; - is standard output"},
           &FitOptions::log, kFileName),
      text({.name = "activations",
            .value_name = "FILE",
            .help = "CSV, one row of K numbers for each observation as it is read: E[x_t | data up "
                    "to t]; - is standard output"},
           &FitOptions::activations, kFileName),
      flag({.name = "surprise",
            .help = "add to --log and --activations: -log p(y_t | past), and the probability of an "
                    "observation at least as surprising, calibrated on earlier rows so that one "
                    "row in a hundred is below .01"},
           &FitOptions::surprise),
      text({.name = "serve",
            .value_name = "[ADDRESS:]PORT",
            .help =
                "serve a page that shows the fit while it runs, and metrics for Prometheus at "
                "/metrics; ADDRESS is 127.0.0.1 unless given, which only this machine can reach"},
           &FitOptions::serve, "a port, or an address and a port"),
      text({.name = "metrics",
            .value_name = "FILE",
            .help = "write the metrics to a file, at most once a second, for the textfile "
                    "collector of Prometheus"},
           &FitOptions::metrics, kFileName),
      quiet_option(&FitOptions::quiet, "print no progress line and no summary"),
  };
}

OptionTable<FitOptions> config_file_rows() {
  return {text({.name = "config",
                .value_name = "FILE",
                .help = "read options from a file of lines NAME = VALUE; options on the command "
                        "line overrule them"},
               &FitOptions::config_file, kFileName)};
}

}  // namespace

OptionTable<FitOptions> FitOptions::table() {
  return joined<FitOptions>({
      within(&FitOptions::data, DataOptions::table_with_follow()),
      in_group("Output", output_rows()),
      in_group("Continue", continue_rows()),
      settings_rows(),
      within(&FitOptions::parameters, ParameterOptions::table()),
      within(&FitOptions::checkpoints, CheckpointOptions::table()),
      in_group("Run", config_file_rows()),
      within(&FitOptions::ranks, RankOptions::table_with_rounds()),
  });
}

Config FitOptions::config(const std::optional<Model>& model) const {
  if (model) return config_for(*model);
  if (forget > 0) throw UsageError("--forget needs a model that is continued: --continue MODEL");
  for (const OptionInfo& row : config_options()) {
    if (row.is_required && !is_typed(row.name)) {
      // A file that is not there may have been meant to be the model that has it.
      if (!init_file.empty()) read_matrix_file(init_file);
      throw UsageError(fmt::format("--{} is required", row.name));
    }
  }
  Config config = settings;
  config.prior.parameters = parameters.parameters(config.prior.name);
  config.counts.parameters = parameters.law_parameters();
  check_run(config);
  if (!init_file.empty()) config.initial_basis = read_start(config);
  config.validate();
  return config;
}

void FitOptions::check_files() const {
  RunFiles files;
  data.add_to(files);
  parameters.add_to(files);
  files.reads("--init", init_file);
  files.reads("--continue", continued);
  files.reads("--config", config_file);
  files.reads("--resume", checkpoints.resume);
  files.replaces("--checkpoint", checkpoints.file);
  files.replaces("--out", out);
  files.grows("--log", log);
  files.grows("--activations", activations);
  files.replaces("--metrics", metrics);
  files.check();
}

void FitOptions::check_candidates(const Config& config) const {
  if (candidates.size() < 2) return;
  if (config.method == Method::kBatch) {
    throw UsageError(
        "several --components are compared by their predictions of the next observation; --method "
        "batch makes none");
  }
  if (config.restarts > 1) {
    throw UsageError("--restarts needs one number of --components");
  }
  if (!init_file.empty()) {
    throw UsageError("a starting basis (--init FILE) needs one number of --components");
  }
}

void FitOptions::check_run(const Config& config) const {
  const bool is_batch = config.method == Method::kBatch;
  check_candidates(config);
  for (const auto& [option, text] : {std::pair{"--serve", serve}, {"--metrics", metrics}}) {
    if (!text.empty() && is_batch) {
      throw UsageError(
          fmt::format("{} needs online EM; --method batch takes all observations at once", option));
    }
  }
  if (!serve.empty()) ServeAddress::parse(serve);
  for (const auto& [option, file] : {std::pair{"--log", log}, {"--activations", activations}}) {
    if (file.empty()) continue;
    if (config.restarts > 1 || candidates.size() > 1) {
      throw UsageError(fmt::format("{} describes one fit, so it cannot go with {}", option,
                                   config.restarts > 1 ? "--restarts" : "several --components"));
    }
    if (is_batch) {
      throw UsageError(
          fmt::format("{} needs online EM; --method batch takes all observations at once", option));
    }
  }
  if (log == "-" && activations == "-") {
    throw UsageError("only one of --log - and --activations - can go to standard output");
  }
  if (checkpoints.file == "-" || out == "-") {
    throw UsageError(fmt::format("{} needs a file; - is standard output",
                                 checkpoints.file == "-" ? "--checkpoint" : "--out"));
  }
  if (surprise && log.empty() && activations.empty()) {
    throw UsageError("--surprise adds to --log or --activations; name a file for one of them");
  }
  if (surprise && config.round > 0) {
    throw UsageError(
        "--surprise needs the prediction of each observation, which --round does not keep; use "
        "headwater score MODEL DATA --surprise");
  }
  if (checkpoints.any() && is_batch) {
    throw UsageError("checkpoints need online EM; --method batch cannot be saved in the middle");
  }
  if (data.follow && is_batch) {
    throw UsageError("--method batch needs all data, so it cannot go with --follow");
  }
  if (config.m_step.hold_basis && init_file.empty() && continued.empty()) {
    throw UsageError("--hold basis needs a basis to hold: --init FILE");
  }
}

Matrix FitOptions::read_start(const Config& config) const {
  Matrix basis = read_matrix_file(init_file);
  const bool has_background = config.background && basis.cols() == config.num_components + 1;
  if (basis.cols() != config.num_components && !has_background) {
    throw InputError(fmt::format("{}: has {} columns; expected {}, one for each component",
                                 init_file, basis.cols(), config.num_components));
  }
  return basis;
}

void FitOptions::check_start(const Config& config, Index num_channels) const {
  const Matrix& basis = config.initial_basis;
  if (basis.size() == 0 || basis.rows() == num_channels) return;
  if (!model_name().empty()) {
    throw InputError(fmt::format("{}: has {} channels; {} was fitted to {}", data.name,
                                 num_channels, model_name(), basis.rows()));
  }
  throw InputError(fmt::format("{}: has {} rows; {} has {} channels", init_file, basis.rows(),
                               data.name, num_channels));
}
