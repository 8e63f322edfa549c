#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/registry.hpp"
#include "headwater/simulate.hpp"
#include "headwater/sink.hpp"
#include "option_rows.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace {

using namespace headwater;

struct SimulateOptions {
  PriorConfig prior;
  CountsConfig counts = {.law = AnyLaw()->name()};
  SeasonConfig season;
  std::vector<std::string> profiles;
  ParameterOptions parameters;
  std::string basis;
  std::optional<Index> channels;
  std::optional<Index> components;
  double scale = 10;
  std::int64_t length = 0;
  std::uint64_t seed = kDefaultSeed;
  std::string out;
  std::string save_activations;
  std::string save_basis;
  bool quiet = false;
};

Matrix basis_to_use(const SimulateOptions& options) {
  if (options.basis.empty()) {
    if (!options.channels || !options.components) {
      throw UsageError("simulate needs --basis FILE, or --channels M and --components K");
    }
    return random_basis(*options.channels, *options.components, options.scale, options.seed);
  }
  Matrix basis = read_matrix_file(options.basis);
  if (options.components && basis.cols() != *options.components) {
    throw InputError(fmt::format("{}: has {} columns; --components says {}", options.basis,
                                 basis.cols(), *options.components));
  }
  if (options.channels && basis.rows() != *options.channels) {
    throw InputError(fmt::format("{}: has {} rows; --channels says {}", options.basis, basis.rows(),
                                 *options.channels));
  }
  return basis;
}

Season season_to_use(const SimulateOptions& options) {
  std::vector<Matrix> profiles;
  const std::vector<Period>& periods = options.season.periods;
  if (periods.size() != options.profiles.size()) {
    throw UsageError(
        fmt::format("--period is given {} times and --profile {} times; expected a "
                    "profile for each period",
                    periods.size(), options.profiles.size()));
  }
  for (std::size_t i = 0; i < periods.size(); ++i) {
    Matrix profile = read_matrix_file(options.profiles[i]);
    if (profile.cols() != periods[i].steps) {
      throw InputError(fmt::format("{}: has {} columns; --period says {}", options.profiles[i],
                                   profile.cols(), periods[i].text()));
    }
    profiles.push_back(std::move(profile));
  }
  return Season(std::move(profiles));
}

void write_matrix(const RowMatrix& matrix, MatrixSink& sink) {
  for (Index i = 0; i < matrix.rows(); ++i) sink.write_row(as_span(matrix.row(i)));
  sink.commit();
}

void check_simulated_files(const SimulateOptions& options) {
  RunFiles files;
  files.reads("--basis", options.basis);
  options.parameters.add_to(files);
  for (const std::string& profile : options.profiles) files.reads("--profile", profile);
  files.replaces("--out", options.out);
  files.replaces("--save-activations", options.save_activations);
  files.replaces("--save-basis", options.save_basis);
  files.check();
}

void simulate(const SimulateOptions& options) {
  const Matrix basis = basis_to_use(options);
  PriorConfig prior = options.prior;
  prior.parameters = options.parameters.parameters(prior.name);
  CountsConfig counts = options.counts;
  counts.parameters = options.parameters.law_parameters();
  if (counts.law == CountsConfig::kAuto) {
    throw UsageError("simulate needs the name of one law; --counts auto is for fit only");
  }
  Simulator simulator(make_prior(basis.cols(), prior),
                      Emission(basis, make_law(basis.rows(), counts), season_to_use(options)),
                      options.seed, options.season.phase);
  check_simulated_files(options);
  const auto data = create_sink(options.out);
  const auto activations = sink_if_named(options.save_activations);
  const auto used_basis = sink_if_named(options.save_basis);
  Progress progress(options.quiet);
  for (std::int64_t t = 1; t <= options.length; ++t) {
    simulator.next();
    data->write_row(simulator.observation());
    if (activations) activations->write_row(simulator.activation());
    progress.show(t, "observations", static_cast<double>(t) / static_cast<double>(options.length));
  }
  if (used_basis) write_matrix(basis, *used_basis);
  if (activations) activations->commit();
  data->commit();
}

OptionTable<SimulateOptions> simulate_table() {
  using namespace headwater::rows;
  return joined<SimulateOptions>({
      within(&SimulateOptions::prior, prior_options()),
      within(&SimulateOptions::counts, counts_options()),
      within(&SimulateOptions::season, season_options()),
      in_group<SimulateOptions>(
          "Model", {names({.name = "profile",
                           .value_name = "FILE",
                           .help = "K x P file for each --period: the gain of each component at "
                                   "each phase; rows are scaled to the mean 1"},
                          &SimulateOptions::profiles, kFileName)}),
      within(&SimulateOptions::parameters, ParameterOptions::table()),
      in_group<SimulateOptions>(
          "Model", {text({.name = "basis",
                          .value_name = "FILE",
                          .help = "M x K file: column k is what component k adds to each channel",
                          .python_name = "basis"},
                         &SimulateOptions::basis, kFileName),
                    whole_number({.name = "channels",
                                  .value_name = "M",
                                  .help = "number of channels of a random basis",
                                  .python_name = "channels"},
                                 &SimulateOptions::channels, 1, 100'000'000),
                    whole_number({.name = "components",
                                  .value_name = "K",
                                  .help = "number of components of a random basis",
                                  .python_name = "components"},
                                 &SimulateOptions::components, 1, kMostComponents),
                    real_number({.name = "scale",
                                 .help = "entries of a random basis are uniform between 0 and this",
                                 .python_name = "scale"},
                                &SimulateOptions::scale, RealNumber{0, 1e9, false, true})}),
      in_group<SimulateOptions>(
          "Output",
          {whole_number({.name = "length",
                         .value_name = "T",
                         .help = "number of observations to draw",
                         .python_name = "length",
                         .is_required = true},
                        &SimulateOptions::length, 1, kMostObservations),
           seed_option(&SimulateOptions::seed),
           text({.name = "out",
                 .value_name = "FILE",
                 .help = "T x M counts to write: .csv, .tsv, .npy or - (CSV to standard output)",
                 .is_required = true},
                &SimulateOptions::out, kFileName),
           text({.name = "save-activations",
                 .value_name = "FILE",
                 .help = "write the activations that were drawn, T x K"},
                &SimulateOptions::save_activations, kFileName),
           text({.name = "save-basis",
                 .value_name = "FILE",
                 .help = "write the basis that was used, M x K"},
                &SimulateOptions::save_basis, kFileName),
           quiet_option(&SimulateOptions::quiet, "print no progress line")}),
  });
}

}  // namespace

void add_simulate(CLI::App& app, Run& run) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App& command = *app.add_subcommand("simulate", "draw a stream from a model");
  add_options(command, simulate_table(), *options);
  command.footer(list_priors());
  command.callback([options, &run] { run = [options] { simulate(*options); }; });
}
