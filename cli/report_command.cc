#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/io/files/atomic_file.hpp"
#include "headwater/report/page.hpp"
#include "headwater/report/state_json.hpp"
#include "headwater/report/stream_report.hpp"
#include "model_and_data.hpp"
#include "option_rows.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "words.hpp"

namespace {

using namespace headwater;

struct ReportOptions {
  std::string model;
  DataOptions data;
  std::string out;
  std::string truth;
  std::string state;
  Index horizon = 0;
  bool last = false;
  bool quiet = false;
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  SeasonConfig season;
};

std::string file_part(const std::string& name) {
  return name == "-" ? "standard input" : std::filesystem::path(name).filename().string();
}

// Rows after which the part of the file that was read says how long it is.
constexpr std::int64_t kRowsToGuess = 256;

StreamReport report_on(const ReportOptions& options, const Model& model, DataStream& data) {
  StreamReporter reporter(model, {.engine = options.engine,
                                  .seed = options.seed,
                                  .phase = options.season.phase,
                                  .horizon = options.horizon,
                                  .last = options.last});
  Progress progress(options.quiet);
  while (data.next()) {
    reporter.add(data.observation());
    const std::optional<double> fraction = data.fraction_read();
    if (reporter.observations() == kRowsToGuess && fraction && *fraction > 0) {
      reporter.expect_rows(static_cast<double>(kRowsToGuess) / *fraction);
    }
    progress.show(reporter.observations(), "observations", fraction);
  }
  if (reporter.observations() == 0) {
    throw InputError(fmt::format("{}: there are no observations", data.name()));
  }
  return reporter.finish();
}

std::optional<Matrix> read_truth(const ReportOptions& options, const Model& model) {
  if (options.truth.empty()) return std::nullopt;
  const Matrix truth = read_matrix_file(options.truth);
  if (truth.rows() != model.num_channels() || truth.cols() != model.num_components()) {
    throw InputError(fmt::format("{}: is {}x{}; the basis of {} is {}x{}", options.truth,
                                 truth.rows(), truth.cols(), options.model, model.num_channels(),
                                 model.num_components()));
  }
  return truth;
}

void check_report_files(const ReportOptions& options) {
  RunFiles files;
  files.reads("MODEL", options.model);
  if (!options.data.name.empty()) options.data.add_to(files);
  files.reads("--truth", options.truth);
  files.replaces("--out", options.out);
  files.replaces("--state", options.state);
  files.check();
}

void write_whole(const std::string& name, std::string_view text) {
  AtomicFile file(name);
  file.write(text);
  file.commit();
}

void report(const ReportOptions& options) {
  if (!has_pages()) report_page("", "");  // says what is missing before hours of work
  check_report_files(options);
  const Model model = read_model_file(options.model);
  StateParts parts = {.model = model,
                      .last = options.last,
                      .title = file_part(options.model),
                      .names = model.names,
                      .truth = read_truth(options, model)};
  std::optional<DataStream> data;
  StreamReport stream;
  if (!options.data.name.empty()) {
    data.emplace(open_for_model(options.data, options.model, model, options.quiet));
    stream = report_on(options, model, *data);
    parts.data = file_part(options.data.name);
    parts.names = channel_labels(*data, model);
    parts.stream = &stream;
    if (data->has_times()) {
      parts.time_text = [&](double time) { return data->time_text(time); };
      parts.time_after = [&](std::int64_t steps) { return data->time_after(steps); };
    }
  }
  const std::string state = state_json(parts);
  if (!options.state.empty()) write_whole(options.state, state + "\n");
  write_whole(options.out, report_page(parts.title + " · headwater", state));
  if (data) report_bad_rows(*data, options.quiet);
  if (!options.quiet && options.out != "-") say("wrote {}: open it in a browser\n", options.out);
}

OptionTable<ReportOptions> report_table() {
  using namespace headwater::rows;
  using Options = ReportOptions;
  OptionTable<Options> data = within(&Options::data, DataOptions::table());
  for (Option<Options>& row : data) {
    if (!row.is_positional) continue;
    row.is_required = false;
    row.help = "a stream to show beside the model; without it, the page shows the model alone";
  }
  return joined<Options>({
      {text({.name = "MODEL",
             .help = "model file of headwater fit",
             .is_required = true,
             .is_positional = true},
            &Options::model, kFileName)},
      data,
      in_group<Options>(
          "Output",
          {text({.name = "out",
                 .value_name = "FILE.html",
                 .help = "the page to write: one file that loads nothing else",
                 .is_required = true},
                &Options::out, kFileName),
           text({.name = "truth",
                 .value_name = "FILE",
                 .help = "the true basis (M x K), to show beside the estimate"},
                &Options::truth, kFileName),
           text({.name = "state",
                 .value_name = "FILE",
                 .help = "also write the numbers of the page, as JSON"},
                &Options::state, kFileName),
           whole_number(
               {.name = "horizon",
                .value_name = "H",
                .help = "number of observations to forecast; 0: one period of the season, or 24"},
               &Options::horizon, 0, 10000),
           flag({.name = "last", .help = "use the last iterate instead of the average"},
                &Options::last),
           quiet_option(&Options::quiet, "print no progress line")}),
      {within(&Options::season, *find_by_name(season_options(), "phase"))},
      within(&Options::engine, engine_options()),
      in_group<Options>("Engine", {seed_option(&Options::seed)}),
  });
}

}  // namespace

void add_report(CLI::App& app, Run& run) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand(
      "report", "write a page that shows a model, and how well it predicts a stream");
  add_options(command, report_table(), *options);
  command.callback([options, &run] { run = [options] { report(*options); }; });
}
