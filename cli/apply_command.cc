#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/observation.hpp"
#include "headwater/sink.hpp"
#include "live_sink.hpp"
#include "model_and_data.hpp"
#include "option_rows.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "row_range.hpp"
#include "row_results.hpp"
#include "stop_signals.hpp"

namespace {

using namespace headwater;

struct ApplyOptions {
  std::string model;
  DataOptions data;
  RowOptions rows;
  std::string out;
  bool smooth = false;
  bool last = false;
  bool quiet = false;
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  SeasonConfig season;
  RankOptions ranks;
};

const Estimate& estimate_to_apply(const ApplyOptions& options, const Model& model) {
  return options.last ? model.last : model.reported;
}

RowResults::Take to(MatrixSink& sink) {
  return [&sink](std::span<const std::string> texts, std::span<const double> activation) {
    sink.write_row(texts, activation);
  };
}

void apply_filtered(const ApplyOptions& options, const Model& model, DataStream& data,
                    MatrixSink& sink) {
  ModelFilter filter(estimate_to_apply(options, model), model.background,
                     options.ranks.engine_for(options.engine, model), options.seed);
  filter.set_phase(options.season.phase);
  Progress progress(options.quiet);
  RowRange rows(options.rows, data);
  RowResults results(options.ranks, model.num_components(), to(sink));
  while (rows.next()) {
    const bool is_own = results.is_own(data.observation());
    if (is_own) {
      filter.step(data.observation());
    } else {
      filter.pass_over();
    }
    if (rows.is_wanted()) {
      const Vector activation = is_own ? filter.filtered_activation() : Vector();
      results.add(time_texts(data), as_span(activation));
    }
    progress.show(rows.number(), "observations", data.fraction_read());
  }
  results.finish(options.quiet);
  rows.finish(options.quiet);
}

void apply_smoothed(const ApplyOptions& options, const Model& model, DataStream& data,
                    MatrixSink& sink) {
  Record all;
  for (std::int64_t number = 1; data.next(); ++number) {
    if (number > options.rows.skip) all.add(data.observation());
  }
  const Index first_wanted = std::max<Index>(options.rows.from - options.rows.skip - 1, 0);
  if (first_wanted >= all.size()) {
    throw InputError(fmt::format("{}: --skip {} and --from {} leave no observation", data.name(),
                                 options.rows.skip, options.rows.from));
  }
  RowResults results(options.ranks, model.num_components(), to(sink));
  const RowMatrix means = smoothed_activations(
      estimate_to_apply(options, model), model.background, all, options.engine, options.seed,
      options.season.phase, [&](Index sequence) { return results.is_own_sequence(sequence); });
  std::vector<std::string> texts(data.has_times() ? 1 : 0);
  for (Index t = 0; t < means.rows(); ++t) {
    const bool is_own = results.is_own(all[t]);
    if (t < first_wanted) continue;
    if (data.has_times()) texts[0] = data.time_text(all[t]);
    results.add(texts, is_own ? as_span(means.row(t)) : std::span<const double>());
  }
  results.finish(options.quiet);
}

void check_files(const ApplyOptions& options) {
  RunFiles files;
  files.reads("MODEL", options.model);
  options.data.add_to(files);
  add_output(files, options.data, "--out", options.out);
  files.check();
}

void apply(const ApplyOptions& options) {
  if (options.smooth && options.data.follow) {
    throw UsageError("--smooth needs all data, so it cannot go with --follow");
  }
  options.ranks.check(options.data, options.engine);
  check_files(options);
  if (!options.smooth) watch_for_stop_signals();  // smoothing begins when all data are read
  const Model model = read_model_file(options.model);
  DataStream data = open_for_model(options.data, options.model, model, options.quiet);
  const auto shared = options.ranks.share(data, options.quiet);
  std::vector<std::string> components;
  for (Index k = 1; k <= model.num_components(); ++k) components.push_back(fmt::format("x{}", k));
  const auto sink = open_output(options.data, options.out, header_with_time(data, components));
  if (options.smooth) {
    apply_smoothed(options, model, data, *sink);
  } else {
    apply_filtered(options, model, data, *sink);
  }
  sink->commit();
  report_bad_rows(data, options.quiet);
}

OptionTable<ApplyOptions> apply_table() {
  using namespace headwater::rows;
  return joined<ApplyOptions>({
      {text({.name = "MODEL",
             .help = "model file of headwater fit",
             .is_required = true,
             .is_positional = true},
            &ApplyOptions::model, kFileName)},
      within(&ApplyOptions::data, DataOptions::table_with_follow()),
      within(&ApplyOptions::rows, RowOptions::table()),
      in_group<ApplyOptions>(
          "Output",
          {text({.name = "out",
                 .value_name = "FILE",
                 .help =
                     "T x K activations to write: .csv, .tsv, .npy or - (CSV to standard output)",
                 .is_required = true},
                &ApplyOptions::out, kFileName),
           flag({.name = "smooth",
                 .help = "compute E[x_t | all data] instead of E[x_t | data up to t]; all data are "
                         "read first",
                 .python_name = "smooth"},
                &ApplyOptions::smooth),
           flag({.name = "last",
                 .help = "use the last iterate instead of the average",
                 .python_name = "last"},
                &ApplyOptions::last),
           quiet_option(&ApplyOptions::quiet, "print no progress line")}),
      {within(&ApplyOptions::season, *find_by_name(season_options(), "phase"))},
      within(&ApplyOptions::engine, engine_options()),
      in_group<ApplyOptions>("Engine", {seed_option(&ApplyOptions::seed)}),
      within(&ApplyOptions::ranks, RankOptions::table()),
  });
}

}  // namespace

void add_apply(CLI::App& app, Run& run) {
  auto options = std::make_shared<ApplyOptions>();
  CLI::App& command = *app.add_subcommand("apply", "estimate the activations behind data");
  add_options(command, apply_table(), *options);
  command.callback([options, &run] { run = [options] { apply(*options); }; });
}
