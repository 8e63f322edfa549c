#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/text/json.hpp"
#include "headwater/score_error.hpp"
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
#include "words.hpp"

namespace {

using namespace headwater;

// A standard error above this share of the log-likelihood is worth more particles.
constexpr double kErrorThatMatters = 0.01;
// Up to so many are taken without being asked for.
constexpr Index kMostParticles = 64000;

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
  double score_error = 0;  // 0: 1 % of the log-likelihood
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  SeasonConfig season;
  RankOptions ranks;
};

struct Score {
  double log_likelihood = 0;
  std::int64_t observations = 0;
  std::int64_t impossible = 0;
  std::int64_t sequences = 0;
  std::int64_t cells = 0;  // that were not missing
  bool has_particles = false;
  double standard_error = 0;  // of the log-likelihood

  void add(std::span<const double> row);
  double per_observation() const { return log_likelihood / static_cast<double>(observations); }
  double per_cell() const { return cells > 0 ? log_likelihood / static_cast<double>(cells) : 0; }
};

// What is found of each row; with --predict, the mean of each channel comes after it.
enum RowValue : std::uint8_t {
  kLogPredictive,
  kIsImpossible,
  kBeginsSequence,
  kCells,
  kHasParticles,
  kDifference,  // to the second filter of ScoreError; NaN if there is none
  kTail,
  kNumRowValues
};

void Score::add(std::span<const double> row) {
  sequences += observations == 0 || row[kBeginsSequence] != 0;
  ++observations;
  impossible += row[kIsImpossible] != 0;
  if (row[kIsImpossible] == 0) log_likelihood += row[kLogPredictive];
  cells += static_cast<std::int64_t>(row[kCells]);
  has_particles = has_particles || row[kHasParticles] != 0;
}

std::vector<double> row_values(const Observation& y, const FilterStep& step,
                               std::optional<double> difference) {
  std::vector<double> row(kNumRowValues, 0);
  row[kLogPredictive] = step.log_predictive;
  row[kIsImpossible] = step.impossible ? 1 : 0;
  row[kBeginsSequence] = y.begins_sequence() ? 1 : 0;
  row[kCells] = static_cast<double>(y.num_channels() - std::ranges::count(y.exposures(), 0.0));
  row[kHasParticles] = step.particles() != nullptr ? 1 : 0;
  row[kDifference] = difference.value_or(std::numeric_limits<double>::quiet_NaN());
  return row;
}

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
  const EngineConfig engine = options.ranks.engine_for(options.engine, model);
  ModelFilter filter(options.last ? model.last : model.reported, model.background, engine,
                     options.seed);
  filter.set_phase(options.season.phase);
  Progress progress(options.quiet);
  Score score;
  SurpriseMeter surprise;
  ScoreError error(options.last ? model.last : model.reported, model.background, engine,
                   options.seed, options.season.phase);
  RowRange rows(options.rows, data);
  const auto take = [&](std::span<const std::string> texts, std::span<const double> row) {
    score.add(row);
    if (!std::isnan(row[kDifference])) error.add(row[kDifference]);
    if (out && options.surprise) {
      out->write_row(texts, std::array{row[kLogPredictive], row[kTail]});
    } else if (out) {
      out->write_row(texts, row.first(1));
    }
    if (predict) predict->write_row(texts, row.subspan(kNumRowValues));
  };
  const Index num_predicted = predict ? filter.num_channels() : 0;
  RowResults results(options.ranks, kNumRowValues + num_predicted, take);
  while (rows.next()) {
    const Observation& y = data.observation();
    std::vector<double> row;
    if (results.is_own(y)) {
      const FilterStep step = filter.step(y);
      row = row_values(y, step, error.difference(y, step));
      if (options.surprise && rows.is_wanted()) {
        row[kTail] = surprise(filter.engine(), y, rows.filtered()).p_row;
      }
      if (predict && rows.is_wanted()) {
        const Vector means = predicted_counts(filter, data.exposures());
        row.insert(row.end(), means.begin(), means.end());
      }
    } else {
      filter.pass_over();
      error.pass_over();
    }
    progress.show(rows.number(), "observations", data.fraction_read());
    if (rows.is_wanted()) results.add(time_texts(data), row);
  }
  results.finish(options.quiet);
  rows.finish(options.quiet);
  if (out) out->commit();
  if (predict) predict->commit();
  score.standard_error = error.standard_error();
  return score;
}

// The standard error that is wished for.
double wished_error(const ScoreOptions& options, const Score& score) {
  return options.score_error > 0 ? options.score_error
                                 : kErrorThatMatters * std::abs(score.log_likelihood);
}

// Scores again with more particles, as long as the standard error is too large, the data can be
// read again, and nothing has gone to standard output. Without --score-error only if the number of
// particles is the default: one that was chosen stays.
Score score_well_enough(ScoreOptions options, const Model& model) {
  const bool is_once =
      options.data.is_pipe() || options.data.follow || options.out == "-" || options.predict == "-";
  const bool is_chosen = options.engine.num_particles != EngineConfig{}.num_particles;
  const bool may_raise = !is_once && (options.score_error > 0 || !is_chosen);
  for (;;) {
    DataStream data = open_for_model(options.data, options.model, model, options.quiet);
    const auto shared = options.ranks.share(data, options.quiet);
    const Score score = run_over(options, model, data);
    const double wish = wished_error(options, score);
    const Index particles = options.engine.num_particles;
    if (score.standard_error > wish && may_raise && particles < kMostParticles) {
      // The variance falls as particles grow; a quarter more, since it is only an estimate.
      const double factor = 1.25 * std::pow(score.standard_error / wish, 2);
      options.engine.num_particles = std::min<Index>(
          kMostParticles,
          static_cast<Index>(static_cast<double>(particles) * std::clamp(factor, 2.0, 16.0)));
      if (!options.quiet) {
        say("{} particles: standard error {:.3g}, more than {:.3g}; again with {}\n",
            with_commas(particles), score.standard_error, wish,
            with_commas(options.engine.num_particles));
      }
      continue;
    }
    report_bad_rows(data, options.quiet);
    if (score.standard_error > wish) {
      say("the log-likelihood has a standard error of {:.3g} from {} particles, more than {:.3g}; "
          "{}\n",
          score.standard_error, with_commas(particles), wish,
          particles < kMostParticles
              ? "more --particles make it smaller; --score-error X takes as many as X needs"
              : "--engine fast has no such error, but a bias");
    }
    return score;
  }
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
  if (score.has_particles) json.key("standard_error").value(score.standard_error);
  json.end_object();
  fmt::print("{}\n", json.text());
}

void print_text(const Score& score) {
  fmt::print("log-likelihood  {:.17g}\nobservations    {}\nper observation {:.17g}\n",
             score.log_likelihood, score.observations, score.per_observation());
  fmt::print("cells           {}\nper cell        {:.17g}\n", score.cells, score.per_cell());
  if (score.has_particles) fmt::print("standard error  {:.3g}\n", score.standard_error);
  if (score.sequences > 1) fmt::print("sequences       {}\n", score.sequences);
  if (score.impossible > 0) {
    fmt::print("impossible      {} (no state of the model can produce them; treated as missing)\n",
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
  options.ranks.check(options.data, options.engine);
  check_score_files(options);
  watch_for_stop_signals();
  const Model model = read_model_file(options.model);
  const Score score = score_well_enough(options, model);
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
                 .help = "add a second column to --out: the probability of an observation at least "
                         "as surprising, which is uniform on (0, 1) if the model is right",
                 .python_name = "surprise"},
                &ScoreOptions::surprise),
           flag({.name = "json", .help = "print the totals as JSON"}, &ScoreOptions::json),
           real_number({.name = "score-error",
                        .value_name = "X",
                        .help = "engine particle: score again with more particles until the "
                                "standard error of the log-likelihood is X or less; 0: 1 % of the "
                                "log-likelihood, unless --particles is given"},
                       &ScoreOptions::score_error, closed(0, 1e15)),
           flag({.name = "last",
                 .help = "use the last iterate instead of the average",
                 .python_name = "last"},
                &ScoreOptions::last),
           quiet_option(&ScoreOptions::quiet, "print no progress line")}),
      {within(&ScoreOptions::season, *find_by_name(season_options(), "phase"))},
      within(&ScoreOptions::engine, engine_options()),
      in_group<ScoreOptions>("Engine", {seed_option(&ScoreOptions::seed)}),
      within(&ScoreOptions::ranks, RankOptions::table()),
  });
}

}  // namespace

void add_score(CLI::App& app, Run& run) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App& command =
      *app.add_subcommand("score", "measure how well a model predicts data, one step ahead");
  add_options(command, score_table(), *options);
  command.callback([options, &run] { run = [options] { score_data(*options); }; });
}
