#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/text/json.hpp"
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

struct ScoreOptions {
  std::string model;
  DataOptions data;
  RowOptions rows;
  std::string out;
  std::string predict;
  bool surprise = false;
  bool json = false;
  bool last = false;
  bool quiet = false;
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  SeasonConfig season;
};

struct Score {
  double log_likelihood = 0;
  std::int64_t observations = 0;
  std::int64_t impossible = 0;
  std::int64_t sequences = 0;
  std::int64_t cells = 0;  // that were not missing

  void add(const Observation& y, const FilterStep& step) {
    sequences += observations == 0 || y.begins_sequence();
    ++observations;
    impossible += step.impossible;
    if (!step.impossible) log_likelihood += step.log_predictive;
    cells += y.num_channels() - std::ranges::count(y.exposures(), 0.0);
  }
  double per_observation() const { return log_likelihood / static_cast<double>(observations); }
  double per_cell() const { return cells > 0 ? log_likelihood / static_cast<double>(cells) : 0; }
};

// What one row of --predict says: the mean count of each channel, as long as it was looked at.
Vector predicted_counts(const ModelFilter& filter, std::span<const double> exposures) {
  Vector means = filter.predicted_observation();
  if (!exposures.empty()) {
    means.array() *= Eigen::Map<const Vector>(exposures.data(), means.size()).array();
  }
  return means;
}

std::vector<std::string> score_header(const ScoreOptions& options, const DataStream& data) {
  std::vector<std::string> names = {"log_predictive"};
  if (options.surprise) names.emplace_back("tail_probability");
  return header_with_time(data, names);
}

Score run_over(const ScoreOptions& options, const Model& model, DataStream& data) {
  const auto out = open_output(options.data, options.out, score_header(options, data));
  const auto predict = open_output(options.data, options.predict, channel_header(data, model));
  ModelFilter filter(options.last ? model.last : model.reported, model.background, options.engine,
                     options.seed);
  filter.set_phase(options.season.phase);
  Progress progress(options.quiet);
  Score score;
  TailProbability tail_probability(options.seed);
  RowRange rows(options.rows, data);
  while (rows.next()) {
    const Observation& y = data.observation();
    const FilterStep step = filter.step(y);
    progress.show(rows.number(), "observations", data.fraction_read());
    if (!rows.is_wanted()) continue;
    score.add(y, step);
    if (out && options.surprise) {
      const double tail = tail_probability(filter.engine(), y, rows.filtered());
      out->write_row(time_texts(data), std::array{step.log_predictive, tail});
    } else if (out) {
      out->write_row(time_texts(data), std::span(&step.log_predictive, 1));
    }
    if (predict) {
      predict->write_row(time_texts(data), as_span(predicted_counts(filter, data.exposures())));
    }
  }
  rows.finish(options.quiet);
  if (out) out->commit();
  if (predict) predict->commit();
  return score;
}

void print_json(const Score& score) {
  JsonWriter json(JsonWriter::Layout::indented);
  json.begin_object();
  json.key("log_likelihood").value(score.log_likelihood);
  json.key("observations").value(score.observations);
  json.key("per_observation").value(score.per_observation());
  json.key("impossible_observations").value(score.impossible);
  json.key("sequences").value(score.sequences);
  json.key("cells").value(score.cells);
  json.key("per_cell").value(score.per_cell());
  json.end_object();
  fmt::print("{}\n", json.text());
}

void print_text(const Score& score) {
  fmt::print("log-likelihood  {:.17g}\nobservations    {}\nper observation {:.17g}\n",
             score.log_likelihood, score.observations, score.per_observation());
  fmt::print("cells           {}\nper cell        {:.17g}\n", score.cells, score.per_cell());
  if (score.sequences > 1) fmt::print("sequences       {}\n", score.sequences);
  if (score.impossible > 0) {
    fmt::print("impossible      {} (no state of the model can give them; treated as missing)\n",
               score.impossible);
  }
}

void check_score_files(const ScoreOptions& options) {
  RunFiles files;
  files.reads("MODEL", options.model);
  options.data.add_to(files);
  add_output(files, options.data, "--out", options.out);
  add_output(files, options.data, "--predict", options.predict);
  files.check();
}

void score_data(const ScoreOptions& options) {
  const bool is_taken = options.out == "-" || options.predict == "-";
  if ((options.out == "-" && options.predict == "-") || (is_taken && options.json)) {
    throw UsageError("only one of --out -, --predict - and --json can go to standard output");
  }
  if (options.surprise && options.out.empty()) {
    throw UsageError("--surprise is a column of --out; name a file for that");
  }
  check_score_files(options);
  watch_for_stop_signals();
  const Model model = read_model_file(options.model);
  DataStream data = open_for_model(options.data, options.model, model, options.quiet);
  const Score score = run_over(options, model, data);
  report_bad_rows(data, options.quiet);
  if (is_taken) return;
  if (options.json) {
    print_json(score);
  } else {
    print_text(score);
  }
}

OptionTable<ScoreOptions> score_table() {
  using namespace headwater::rows;
  return joined<ScoreOptions>({
      {text({.name = "MODEL",
             .help = "model file of headwater fit",
             .is_required = true,
             .is_positional = true},
            &ScoreOptions::model, kFileName)},
      within(&ScoreOptions::data, DataOptions::table_with_follow()),
      within(&ScoreOptions::rows, RowOptions::table()),
      in_group<ScoreOptions>(
          "Output",
          {text({.name = "out",
                 .value_name = "FILE",
                 .help = "log p(y_t | y_1..t-1), one number a row"},
                &ScoreOptions::out, kFileName),
           text({.name = "predict",
                 .value_name = "FILE",
                 .help = "T x M: E[y_t | y_1..t-1]; with a header if channels have names"},
                &ScoreOptions::predict, kFileName),
           flag({.name = "surprise",
                 .help = "a second column in --out: the probability of an observation at least as "
                         "surprising, which is uniform on (0, 1) if the model is right",
                 .python_name = "surprise"},
                &ScoreOptions::surprise),
           flag({.name = "json", .help = "print the totals as JSON"}, &ScoreOptions::json),
           flag({.name = "last",
                 .help = "use the last iterate instead of the average",
                 .python_name = "last"},
                &ScoreOptions::last),
           quiet_option(&ScoreOptions::quiet, "print no progress line")}),
      {within(&ScoreOptions::season, *find_by_name(season_options(), "phase"))},
      within(&ScoreOptions::engine, engine_options()),
      in_group<ScoreOptions>("Engine", {seed_option(&ScoreOptions::seed)}),
  });
}

}  // namespace

void add_score(CLI::App& app, Run& run) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App& command =
      *app.add_subcommand("score", "how well a model predicts data, one step ahead");
  add_options(command, score_table(), *options);
  command.callback([options, &run] { run = [options] { score_data(*options); }; });
}
