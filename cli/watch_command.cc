#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/text/json.hpp"
#include "headwater/watch.hpp"
#include "line_file.hpp"
#include "model_and_data.hpp"
#include "option_rows.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "stop_signals.hpp"
#include "words.hpp"

namespace {

using namespace headwater;

struct WatchOptions {
  std::string model;
  DataOptions data;
  AlarmRate rate;
  std::string out = "-";
  bool every_row = false;
  bool last = false;
  bool quiet = false;
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  SeasonConfig season;
};

std::string alarm_line(const Alarm& alarm, const std::string& time,
                       const std::vector<std::string>& labels, bool says_whether) {
  JsonWriter json;
  json.begin_object();
  json.key("t").value(alarm.t);
  if (!time.empty()) json.key("time").value(time);
  if (says_whether) json.key("alarm").value(alarm.is_alarm);
  json.key("p").value(alarm.p);
  json.key("p_row").value(alarm.p_row);
  json.key("p_total").value(alarm.p_total);
  json.key("p_channels").value(alarm.p_channels);
  json.key("total").begin_object();
  json.key("expected").value(alarm.expected_total);
  json.key("seen").value(alarm.seen_total);
  json.end_object();
  json.key("channels").begin_array();
  for (const auto& [cell, rows] : alarm.channels) {
    json.begin_object();
    json.key("name").value(labels[static_cast<std::size_t>(cell.channel)]);
    json.key("expected").value(cell.expected);
    json.key("seen").value(cell.seen);
    json.key("p").value(cell.p);
    if (rows > 1) json.key("rows").value(rows);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

void check_watch_files(const WatchOptions& options) {
  RunFiles files;
  files.reads("MODEL", options.model);
  options.data.add_to(files);
  files.replaces("--out", options.out);
  files.check();
}

void watch_data(const WatchOptions& options) {
  check_watch_files(options);
  watch_for_stop_signals();
  const Model model = read_model_file(options.model);
  DataStream data = open_for_model(options.data, options.model, model, options.quiet);
  ModelFilter filter(options.last ? model.last : model.reported, model.background, options.engine,
                     options.seed);
  filter.set_phase(options.season.phase);
  LineFile out({options.out, 0, ""});
  const std::vector<std::string> labels = channel_labels(data, model);
  Watch watch(options.rate);
  Progress progress(options.quiet);
  std::int64_t rows = 0;
  std::int64_t alarms = 0;
  while (stop_signal() == 0 && data.next()) {
    const Observation& y = data.observation();
    filter.step(y);
    const Alarm& alarm = watch(filter.engine(), y, ++rows);
    alarms += alarm.is_alarm;
    if (alarm.is_alarm || options.every_row) {
      out.add(alarm_line(alarm, data.time_text(y), labels, options.every_row));
      out.flush();
    }
    progress.show(rows, "observations", data.fraction_read());
  }
  progress.clear();
  report_bad_rows(data, options.quiet);
  if (options.quiet) return;
  say("{} rows, {} alarms; {:.3g} false alarms expected if nothing is unusual\n", with_commas(rows),
      with_commas(alarms), static_cast<double>(rows) * options.rate.per_row());
}

OptionTable<WatchOptions> watch_table() {
  using namespace headwater::rows;
  return joined<WatchOptions>({
      {text({.name = "MODEL",
             .help = "model file of headwater fit",
             .is_required = true,
             .is_positional = true},
            &WatchOptions::model, kFileName)},
      within(&WatchOptions::data, DataOptions::table_with_follow()),
      in_group<WatchOptions>(
          "Output",
          {parsed({.name = "alarms-per",
                   .value_name = "ROWS:N",
                   .help = "accepted rate of false alarms: N in ROWS rows. p-values are ranked "
                           "among those of earlier rows, so that the rate holds even if the model "
                           "is not quite right"},
                  &WatchOptions::rate, "ROWS:N"),
           text({.name = "out",
                 .value_name = "FILE",
                 .help = "file for the alarms, one line of JSON each; -: standard output"},
                &WatchOptions::out, kFileName),
           flag({.name = "every-row",
                 .help = "write a line for every row; it says whether the row is an alarm"},
                &WatchOptions::every_row),
           flag({.name = "last", .help = "use the last iterate instead of the average"},
                &WatchOptions::last),
           quiet_option(&WatchOptions::quiet, "print no progress line and no summary")}),
      {within(&WatchOptions::season, *find_by_name(season_options(), "phase"))},
      within(&WatchOptions::engine, engine_options()),
      in_group<WatchOptions>("Engine", {seed_option(&WatchOptions::seed)}),
  });
}

}  // namespace

void add_watch(CLI::App& app, Run& run) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App& command =
      *app.add_subcommand("watch", "raise an alarm where a stream deviates from its model");
  add_options(command, watch_table(), *options);
  command.callback([options, &run] { run = [options] { watch_data(*options); }; });
}
