#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/sink.hpp"
#include "live_sink.hpp"
#include "model_and_data.hpp"
#include "option_rows.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "row_range.hpp"
#include "stop_signals.hpp"

namespace {

using namespace headwater;

// "0.05,0.5,0.95"
struct Quantiles {
  std::vector<double> parts;

  std::string text() const { return fmt::format("{}", fmt::join(parts, ",")); }
  static Quantiles parse(const std::string& text);
};

Quantiles Quantiles::parse(const std::string& text) {
  Quantiles quantiles;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    const auto part = parse_number<double>(text.substr(first, end - first));
    if (!part || !(*part > 0 && *part < 1)) {
      throw UsageError(fmt::format(
          "--quantiles {}: expected numbers above 0 and below 1 with commas between them", text));
    }
    quantiles.parts.push_back(*part);
    first = end + 1;
  }
  return quantiles;
}

struct ForecastCommandOptions {
  std::string model;
  DataOptions data;
  RowOptions rows;
  std::int64_t horizon = 0;
  Quantiles quantiles;
  bool total = false;
  Index draws = ForecastOptions{}.num_draws;
  std::string out = "-";
  bool last = false;
  bool quiet = false;
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  SeasonConfig season;
  bool each_row = false;

  // Whether there is a forecast after each row. With --follow there is no last one.
  bool is_rolling() const { return each_row || data.follow; }
};

std::vector<std::string> header_of(const ForecastCommandOptions& options, const DataStream& data) {
  std::vector<std::string> header = {"step", "channel", "mean"};
  if (data.has_times()) header.insert(header.begin(), "time");
  if (options.is_rolling()) header.insert(header.begin(), "t");
  for (const double part : options.quantiles.parts) header.push_back(fmt::format("q{}", part));
  return header;
}

// t: the number of the last observation. channels: what they are called, the total too.
void write_forecast(const ForecastCommandOptions& options, Forecast forecast,
                    const DataStream& data, std::int64_t t,
                    const std::vector<std::string>& channels, MatrixSink& sink) {
  std::vector<double> numbers(1 + options.quantiles.parts.size());
  for (std::int64_t h = 1; h <= options.horizon; ++h) {
    forecast.next();
    const Vector mean = forecast.mean();
    Matrix quantiles(mean.size(), 0);
    if (!options.quantiles.parts.empty()) quantiles = forecast.quantiles();
    std::vector<std::string> texts = {fmt::format("{}", h), ""};
    if (data.has_times()) texts.insert(texts.begin(), data.time_after(h));
    if (options.is_rolling()) texts.insert(texts.begin(), fmt::format("{}", t));
    for (Index m = 0; m < mean.size(); ++m) {
      texts.back() = channels[m];
      numbers[0] = mean[m];
      for (Index i = 0; i < quantiles.cols(); ++i) numbers[1 + i] = quantiles(m, i);
      sink.write_row(texts, numbers);
    }
  }
}

void check_forecast_files(const ForecastCommandOptions& options) {
  RunFiles files;
  files.reads("MODEL", options.model);
  options.data.add_to(files);
  add_output(files, options.data, "--out", options.out);
  files.check();
}

void forecast(const ForecastCommandOptions& options) {
  check_forecast_files(options);
  watch_for_stop_signals();
  const Model model = read_model_file(options.model);
  DataStream data = open_for_model(options.data, options.model, model, options.quiet);
  std::vector<std::string> channels = channel_labels(data, model);
  channels.emplace_back("total");
  const auto sink = open_output(options.data, options.out, header_of(options, data));
  ModelFilter filter(options.last ? model.last : model.reported, model.background, options.engine,
                     options.seed);
  filter.set_phase(options.season.phase);
  Progress progress(options.quiet);
  RowRange rows(options.rows, data);
  const auto write = [&] {
    write_forecast(options,
                   filter.forecast({.quantiles = options.quantiles.parts,
                                    .with_total = options.total,
                                    .num_draws = options.draws,
                                    .seed = options.seed}),
                   data, rows.number(), channels, *sink);
  };
  while (rows.next()) {
    filter.step(data.observation());
    if (options.is_rolling() && rows.is_wanted()) write();
    progress.show(rows.number(), "observations", data.fraction_read());
  }
  rows.finish(options.quiet);
  if (!options.is_rolling()) write();
  sink->commit();
  report_bad_rows(data, options.quiet);
}

OptionTable<ForecastCommandOptions> forecast_table() {
  using namespace headwater::rows;
  using Options = ForecastCommandOptions;
  return joined<Options>({
      {text({.name = "MODEL",
             .help = "model file of headwater fit",
             .is_required = true,
             .is_positional = true},
            &Options::model, kFileName)},
      within(&Options::data, DataOptions::table_with_follow()),
      within(&Options::rows, RowOptions::table()),
      in_group<Options>(
          "Forecast",
          {whole_number({.name = "horizon",
                         .value_name = "H",
                         .help = "number of observations ahead",
                         .python_name = "horizon",
                         .is_required = true},
                        &Options::horizon, 1, 1000000),
           parsed({.name = "quantiles",
                   .value_name = "Q,Q,...",
                   .help = "quantiles beside the mean: 0.05,0.5,0.95 gives the median and an "
                           "interval of probability 0.9",
                   .python_name = "quantiles"},
                  &Options::quantiles, "numbers above 0 and below 1 with commas between them"),
           flag({.name = "each-row",
                 .help = "forecast after each row instead of after the last one; a first column t "
                         "says after which row. --follow implies it"},
                &Options::each_row),
           flag({.name = "total",
                 .help = "add a channel called total: the sum of all others",
                 .python_name = "total"},
                &Options::total),
           whole_number(
               {.name = "draws",
                .value_name = "N",
                .help = "number of observations that are drawn at each step to find quantiles",
                .python_name = "draws"},
               &Options::draws, 1, 10000000)}),
      in_group<Options>(
          "Output",
          {text({.name = "out",
                 .value_name = "FILE",
                 .help = "a line for each step and channel: .csv, .tsv, .npy (numbers alone) or - "
                         "(CSV to standard output)"},
                &Options::out, kFileName),
           flag({.name = "last",
                 .help = "use the last iterate instead of the average",
                 .python_name = "last"},
                &Options::last),
           quiet_option(&Options::quiet, "print no progress line")}),
      {within(&Options::season, *find_by_name(season_options(), "phase"))},
      within(&Options::engine, engine_options()),
      in_group<Options>("Engine", {seed_option(&Options::seed)}),
  });
}

}  // namespace

void add_forecast(CLI::App& app, Run& run) {
  auto options = std::make_shared<ForecastCommandOptions>();
  CLI::App& command = *app.add_subcommand(
      "forecast", "forecast what comes after the last row of data: means and quantiles");
  add_options(command, forecast_table(), *options);
  command.callback([options, &run] { run = [options] { forecast(*options); }; });
}
