#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "headwater/core/error.hpp"
#include "headwater/io/sink.hpp"
#include "headwater/session/held_back.hpp"
#include "model_and_data.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace {

using namespace headwater;

struct ApplyOptions {
  std::string model;
  DataOptions data;
  std::string out;
  bool smooth = false;
  bool last = false;
  bool quiet = false;
  EngineOptions engine;
  std::uint64_t seed = 1;
};

const Estimate& estimate_to_apply(const ApplyOptions& options, const Model& model) {
  return options.last ? model.last : model.reported;
}

void apply_filtered(const ApplyOptions& options, const Model& model, DataStream& data,
                    MatrixSink& sink) {
  ModelFilter filter(estimate_to_apply(options, model), model.background, options.engine.config(),
                     options.seed);
  Progress progress(options.quiet);
  for (std::int64_t t = 1; data.next(); ++t) {
    filter.step(data.observation());
    sink.write_row(as_span(filter.filtered_activation()));
    progress.show(t, "observations", data.fraction_read());
  }
}

void apply_smoothed(const ApplyOptions& options, const Model& model, DataStream& data,
                    MatrixSink& sink) {
  HeldBack all;
  while (data.next()) all.add(data.observation());
  const RowMatrix means = smoothed_activations(estimate_to_apply(options, model), model.background,
                                               all.record(), options.engine.config(), options.seed);
  for (Index t = 0; t < means.rows(); ++t) sink.write_row(as_span(means.row(t)));
}

void apply(const ApplyOptions& options) {
  const Model model = read_model(options.model);
  DataStream data = open_for_model(options.data, options.model, model);
  const auto sink = create_sink(options.out);
  if (options.smooth) {
    apply_smoothed(options, model, data, *sink);
  } else {
    apply_filtered(options, model, data, *sink);
  }
  sink->commit();
  report_bad_rows(data, options.quiet);
}

}  // namespace

void add_apply(CLI::App& app, Run& run) {
  auto options = std::make_shared<ApplyOptions>();
  CLI::App& command = *app.add_subcommand("apply", "find the activations behind data");
  command.add_option("MODEL", options->model, "model file of headwater fit")->required();
  options->data.add_to(command);
  command.add_option("--out", options->out, "T x K activations: .csv, .tsv, .npy or - (CSV)")
      ->required()
      ->type_name("FILE");
  command.add_flag("--smooth", options->smooth,
                   "E[x_t | all data] instead of E[x_t | data up to t]; reads all data first");
  command.add_flag("--last", options->last, "by the last iterate instead of the average");
  command.add_flag("--quiet", options->quiet, "no progress line");
  options->engine.add_to(command);
  add_seed_option(command, options->seed).group("Engine");
  command.callback([options, &run] { run = [options] { apply(*options); }; });
}
