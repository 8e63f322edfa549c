#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/core/error.hpp"
#include "headwater/io/sink.hpp"
#include "headwater/models/simulate.hpp"
#include "headwater/session/registry.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace {

using namespace headwater;

struct SimulateOptions {
  PriorOptions prior;
  std::string basis;
  Index channels = 0;
  Index components = 0;
  double scale = 10;
  std::int64_t length = 0;
  std::uint64_t seed = 1;
  std::string out;
  std::string save_activations;
  std::string save_basis;
  bool quiet = false;
};

Matrix basis_to_use(const SimulateOptions& options) {
  if (options.basis.empty()) {
    if (options.channels < 1 || options.components < 1) {
      throw UsageError(
          "simulate needs --basis FILE, or --channels M and --components K, both 1 or "
          "more");
    }
    if (!(options.scale > 0)) {
      throw UsageError(fmt::format("--scale {}: expected a positive number", options.scale));
    }
    return random_basis(options.channels, options.components, options.scale, options.seed);
  }
  Matrix basis = read_matrix_file(options.basis);
  if (options.components > 0 && basis.cols() != options.components) {
    throw InputError(fmt::format("{}: has {} columns; --components says {}", options.basis,
                                 basis.cols(), options.components));
  }
  if (options.channels > 0 && basis.rows() != options.channels) {
    throw InputError(fmt::format("{}: has {} rows; --channels says {}", options.basis, basis.rows(),
                                 options.channels));
  }
  return basis;
}

void write_matrix(const RowMatrix& matrix, MatrixSink& sink) {
  for (Index i = 0; i < matrix.rows(); ++i) sink.write_row(as_span(matrix.row(i)));
  sink.commit();
}

void simulate(const SimulateOptions& options) {
  if (options.length < 1) {
    throw UsageError(fmt::format("--length {}: expected 1 or more", options.length));
  }
  const Matrix basis = basis_to_use(options);
  Simulator simulator(make_prior(basis.cols(), options.prior.config()), basis, options.seed);
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

}  // namespace

void add_simulate(CLI::App& app, Run& run) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App& command = *app.add_subcommand("simulate", "draw a stream from a model");
  options->prior.add_to(command);
  command.add_option("--basis", options->basis, "M x K file: column k is what component k adds")
      ->type_name("FILE");
  command.add_option("--channels", options->channels, "M, for a random basis")->type_name("M");
  command.add_option("--components", options->components, "K, for a random basis")->type_name("K");
  command
      .add_option("--scale", options->scale, "entries of a random basis are uniform on (0, this)")
      ->type_name("X")
      ->capture_default_str();
  command.add_option("--length", options->length, "observations to draw")
      ->required()
      ->type_name("T");
  add_seed_option(command, options->seed);
  command.add_option("--out", options->out, "T x M counts: .csv, .tsv, .npy or - (CSV)")
      ->required()
      ->type_name("FILE");
  command.add_option("--save-activations", options->save_activations, "T x K, what was on when")
      ->type_name("FILE");
  command.add_option("--save-basis", options->save_basis, "M x K, the basis that was used")
      ->type_name("FILE");
  command.add_flag("--quiet", options->quiet, "no progress line");
  command.callback([options, &run] { run = [options] { simulate(*options); }; });
}
