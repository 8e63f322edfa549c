#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/io/text/json.hpp"
#include "headwater/session/comparison.hpp"
#include "model_and_data.hpp"
#include "option_rows.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "words.hpp"

namespace {

using namespace headwater;

struct CompareOptions {
  std::vector<std::string> files;  // models, and the data last
  DataOptions data;
  std::int64_t from = 1;
  bool json = false;
  bool last = false;
  bool quiet = false;
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  SeasonConfig season;
};

struct Contender {
  std::string file;
  Model model;
};

std::string sentence(const std::vector<Contender>& contenders, const PairedScores& scores) {
  std::vector<std::string> names;
  std::vector<std::string> descriptions;
  for (const Contender& contender : contenders) {
    names.push_back(contender.file);
    descriptions.push_back(description_of(contender.model));
  }
  return verdict(scores, names, descriptions);
}

void print_table(const std::vector<Contender>& contenders, const Comparison& comparison) {
  const PairedScores& scores = comparison.scores();
  const Index best = scores.best();
  print_words("{:>12} {:>12} {:>10}  model\n", "log p", "difference", "std. error");
  for (Index i = 0; i < scores.num_candidates(); ++i) {
    const Contender& contender = contenders[static_cast<std::size_t>(i)];
    const Gain gain = scores.difference(i, best);
    const std::string differs =
        i == best ? fmt::format("{:>12} {:>10}", "best", "")
                  : fmt::format("{:>12.4g} {:>10.2g}", gain.mean, gain.standard_error);
    print_words("{:>12.4f} {}  {}: {}\n", scores.mean(i), differs, contender.file,
                description_of(contender.model));
  }
  print_words("log p: mean over {} observations of log p(y_t | y_1..t-1)\n",
              with_commas(scores.observations()));
  for (Index i = 0; i < scores.num_candidates(); ++i) {
    if (comparison.impossible(i) == 0) continue;
    print_words("{}: {} observations were impossible; they are left out for all models\n",
                contenders[static_cast<std::size_t>(i)].file,
                with_commas(comparison.impossible(i)));
  }
  print_words("{}\n", sentence(contenders, scores));
}

void print_json(const std::vector<Contender>& contenders, const Comparison& comparison) {
  const PairedScores& scores = comparison.scores();
  const Index best = scores.best();
  JsonWriter json(JsonWriter::Layout::indented);
  json.begin_object();
  json.key("observations").value(scores.observations());
  json.key("left_out").value(scores.left_out());
  json.key("models").begin_array();
  for (Index i = 0; i < scores.num_candidates(); ++i) {
    const Contender& contender = contenders[static_cast<std::size_t>(i)];
    const Gain gain = scores.difference(i, best);
    json.begin_object();
    json.key("model").value(contender.file);
    json.key("prior").value(contender.model.reported.prior.name());
    json.key("components").value(contender.model.num_components());
    json.key("counts").value(contender.model.reported.law->name());
    json.key("periods").begin_array();
    for (const Matrix& profile : contender.model.reported.season.profiles()) {
      json.value(profile.cols());
    }
    json.end_array();
    json.key("per_observation").value(scores.mean(i));
    json.key("per_cell")
        .value(scores.mean(i) / static_cast<double>(contender.model.num_channels()));
    json.key("difference").value(gain.mean);
    json.key("standard_error").value(gain.standard_error);
    json.key("impossible_observations").value(comparison.impossible(i));
    json.end_object();
  }
  json.end_array();
  json.key("best").value(contenders[static_cast<std::size_t>(best)].file);
  json.key("verdict").value(sentence(contenders, scores));
  json.end_object();
  fmt::print("{}\n", json.text());
}

// All models see the same observations, so their channels must have one order.
void check_channels(const Contender& first, const Contender& other) {
  if (other.model.num_channels() != first.model.num_channels()) {
    throw InputError(fmt::format("{}: has {} channels; {} has {}", other.file,
                                 other.model.num_channels(), first.file,
                                 first.model.num_channels()));
  }
  if (other.model.names.empty() || first.model.names.empty()) return;
  for (std::size_t m = 0; m < first.model.names.size(); ++m) {
    if (other.model.names[m] == first.model.names[m]) continue;
    throw InputError(fmt::format("{}: channel {} is '{}'; in {} it is '{}'", other.file, m + 1,
                                 other.model.names[m], first.file, first.model.names[m]));
  }
}

std::vector<Contender> read_contenders(const CompareOptions& options) {
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i + 1 < options.files.size(); ++i) {
    contenders.push_back({options.files[i], read_model_file(options.files[i])});
    check_channels(contenders.front(), contenders.back());
  }
  return contenders;
}

Comparison new_comparison(const CompareOptions& options, const std::vector<Contender>& contenders) {
  std::vector<ModelFilter> filters;
  EngineConfig engine = options.engine;
  engine.num_threads = 1;  // they are for the models
  for (const Contender& contender : contenders) {
    const Model& model = contender.model;
    filters.emplace_back(options.last ? model.last : model.reported, model.background, engine,
                         options.seed);
    filters.back().set_phase(options.season.phase);
  }
  return {std::move(filters), options.engine.num_threads};
}

void compare(CompareOptions options) {
  if (options.files.size() < 3) {
    throw UsageError("expected two models or more, and then the data: MODEL MODEL... DATA");
  }
  options.data.name = options.files.back();
  const std::vector<Contender> contenders = read_contenders(options);
  DataStream data = open_for_model(options.data, contenders.front().file, contenders.front().model,
                                   options.quiet);
  Comparison comparison = new_comparison(options, contenders);
  Progress progress(options.quiet);
  std::int64_t row = 0;
  while (data.next()) {
    comparison.update(data.observation(), ++row >= options.from);
    progress.show(row, "observations", data.fraction_read());
  }
  comparison.finish();
  progress.clear();
  report_bad_rows(data, options.quiet);
  if (row < options.from) {
    throw InputError(fmt::format("{}: has {} observations; --from {} leaves none", data.name(),
                                 with_commas(row), options.from));
  }
  if (options.json) {
    print_json(contenders, comparison);
  } else {
    print_table(contenders, comparison);
  }
}

OptionTable<CompareOptions> compare_table() {
  using namespace headwater::rows;
  OptionTable<DataOptions> data = DataOptions::table();
  std::erase_if(data, [](const auto& row) { return row.name == "DATA"; });
  return joined<CompareOptions>({
      {names({.name = "MODEL... DATA",
              .help = "two or more model files of headwater fit, and then the data: T x M, one "
                      "observation a row, which none of the models was fitted to",
              .is_required = true,
              .is_positional = true},
             &CompareOptions::files, kFileName)},
      within(&CompareOptions::data, data),
      {whole_number({.name = "from",
                     .value_name = "ROW",
                     .help = "compare predictions from this observation on; the models filter the "
                             "earlier ones too"},
                    &CompareOptions::from, 1, kMostObservations)},
      in_group<CompareOptions>(
          "Output",
          {flag({.name = "json", .help = "print the comparison as JSON"}, &CompareOptions::json),
           flag({.name = "last", .help = "use the last iterates instead of the averages"},
                &CompareOptions::last),
           quiet_option(&CompareOptions::quiet, "print no progress line")}),
      {within(&CompareOptions::season, *find_by_name(season_options(), "phase"))},
      within(&CompareOptions::engine, engine_options()),
      in_group<CompareOptions>("Engine", {seed_option(&CompareOptions::seed)}),
  });
}

}  // namespace

void add_compare(CLI::App& app, Run& run) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App& command = *app.add_subcommand(
      "compare", "find which of several models predicts data best, and how clearly");
  add_options(command, compare_table(), *options);
  command.callback([options, &run] { run = [options] { compare(*options); }; });
}
