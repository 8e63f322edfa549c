#include "headwater/report/stream_json.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace headwater {

namespace {

constexpr int kSeriesDigits = 4;  // of a point in a picture
constexpr Index kHistogramBins = 20;
constexpr std::size_t kQuantiles = 200;

template <class Values>
void write_rounded(JsonWriter& json, const Values& values, int digits = kSeriesDigits) {
  json.begin_array();
  for (const double value : values) json.rounded(value, digits);
  json.end_array();
}

// One column: its means, and where buckets hold several rows the least and the largest values.
void write_series(JsonWriter& json, const ThinnedTable& table, Index column) {
  const auto write = [&](const char* name, auto value_in) {
    json.key(name).begin_array();
    for (Index i = 0; i < table.num_buckets(); ++i) {
      json.rounded(value_in(i), kSeriesDigits);
    }
    json.end_array();
  };
  json.begin_object();
  write("mean", [&](Index i) { return table.mean(i, column); });
  if (table.rows_a_bucket() > 1) {
    write("low", [&](Index i) { return table.least(i, column); });
    write("high", [&](Index i) { return table.largest(i, column); });
  }
  json.end_object();
}

// When its buckets begin: the number of the first is 1, and of the next ones `every` more.
void write_clock(JsonWriter& json, const StateParts& parts, const ThinnedTable& table) {
  json.key("every").value(table.rows_a_bucket());
  if (!parts.time_text) return;
  json.key("times").begin_array();
  for (Index i = 0; i < table.num_buckets(); ++i) json.value(parts.time_text(table.time(i)));
  json.end_array();
}

void write_activations(JsonWriter& json, const StateParts& parts, const ThinnedTable& table) {
  json.key("activations").begin_object();
  write_clock(json, parts, table);
  json.key("series").begin_array();
  for (Index k = 0; k < table.num_columns(); ++k) write_series(json, table, k);
  json.end_array();
  json.end_object();
}

void write_single(JsonWriter& json, const char* name, const StateParts& parts,
                  const ThinnedTable& table) {
  json.key(name).begin_object();
  write_clock(json, parts, table);
  json.key("series");
  write_series(json, table, 0);
  json.end_object();
}

void write_predictions(JsonWriter& json, const StateParts& parts) {
  const StreamReport& stream = *parts.stream;
  json.key("predictions").begin_object();
  write_clock(json, parts, stream.seen);
  json.key("recent_first").value(stream.recent.first + 1);
  if (parts.time_text) {
    json.key("recent_times").begin_array();
    for (const double time : stream.recent.times) json.value(parts.time_text(time));
    json.end_array();
  }
  json.key("channels").begin_array();
  for (const ChannelPrediction& shown : stream.predictions) {
    json.begin_object();
    json.key("channel").value(shown.channel);
    json.key("rank").value(shown.rank);
    json.key("explained").value(shown.explained);
    json.key("seen");
    write_series(json, stream.seen, shown.channel);
    json.key("expected");
    write_series(json, stream.expected, shown.channel);
    json.key("recent_seen");
    write_rounded(json, stream.recent.seen.row(shown.channel), 8);
    json.key("recent_expected");
    write_rounded(json, stream.recent.expected.row(shown.channel));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

// The histogram, and the empirical quantiles at (i + 1/2) / n.
void write_calibration(JsonWriter& json, const std::vector<double>& sorted) {
  std::vector<std::int64_t> bins(kHistogramBins);
  for (const double p : sorted) {
    const auto bin = static_cast<Index>(p * static_cast<double>(kHistogramBins));
    ++bins[static_cast<std::size_t>(std::clamp<Index>(bin, 0, kHistogramBins - 1))];
  }
  json.key("calibration").begin_object();
  json.key("rows").value(sorted.size());
  json.key("histogram").begin_array();
  for (const std::int64_t count : bins) json.value(count);
  json.end_array();
  const std::size_t quantiles = std::min(kQuantiles, sorted.size());
  json.key("quantiles").begin_array();
  for (std::size_t i = 0; i < quantiles; ++i) {
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(quantiles);
    json.rounded(sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size()))], 4);
  }
  json.end_array();
  json.end_object();
}

void write_surprises(JsonWriter& json, const StateParts& parts) {
  json.key("surprises").begin_array();
  for (const SurprisingRow& row : parts.stream->surprises) {
    json.begin_object();
    json.key("t").value(row.t);
    if (parts.time_text) json.key("time").value(parts.time_text(row.time));
    json.key("tail_probability").value(row.tail_probability);
    json.key("log_predictive").value(row.log_predictive);
    json.key("cells").begin_array();
    for (const UnusualCell& cell : row.cells) {
      json.begin_object();
      json.key("channel").value(cell.channel);
      json.key("expected").rounded(cell.expected, 4);
      json.key("seen").rounded(cell.seen, 8);
      json.key("deviation").rounded(cell.deviation, 3);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

// What a channel of a forecast did before: M is the sum of all, where all were seen.
Vector recent_of(const RecentRows& recent, Index channel) {
  if (channel < recent.seen.rows()) return recent.seen.row(channel);
  return recent.seen.colwise().sum();
}

void write_forecast(JsonWriter& json, const StateParts& parts) {
  const ForecastReport& forecast = parts.stream->forecast;
  const RecentRows& recent = parts.stream->recent;
  const Index rows = std::min<Index>(recent.seen.cols(), std::max<Index>(2 * forecast.horizon, 48));
  const Index first = recent.seen.cols() - rows;
  json.key("forecast").begin_object();
  json.key("first").value(parts.stream->observations + 1);
  json.key("recent_first").value(recent.first + first + 1);
  if (parts.time_text) {
    json.key("recent_times").begin_array();
    for (Index i = first; i < recent.seen.cols(); ++i) {
      json.value(parts.time_text(recent.times[static_cast<std::size_t>(i)]));
    }
    json.end_array();
  }
  if (parts.time_after) {
    json.key("times").begin_array();
    for (Index h = 1; h <= forecast.horizon; ++h) json.value(parts.time_after(h));
    json.end_array();
  }
  json.key("levels");
  write_rounded(json, forecast.levels);
  json.key("channels").begin_array();
  for (std::size_t i = 0; i < forecast.channels.size(); ++i) {
    const Index channel = forecast.channels[i];
    json.begin_object();
    json.key("channel");
    if (channel < recent.seen.rows()) {
      json.value(channel);
    } else {
      json.null();
    }
    json.key("recent");
    write_rounded(json, Vector(recent_of(recent, channel).tail(rows)), 8);
    json.key("mean");
    write_rounded(json, forecast.means.col(static_cast<Index>(i)));
    json.key("quantiles").begin_array();
    for (Index q = 0; q < forecast.quantiles[i].cols(); ++q) {
      write_rounded(json, forecast.quantiles[i].col(q), 8);
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_health(JsonWriter& json, const StateParts& parts) {
  const EngineHealth& health = parts.stream->health;
  if (health.kind == EngineHealth::Kind::kNone) return;
  const bool is_beam = health.kind == EngineHealth::Kind::kBeam;
  json.key("health").begin_object();
  json.key("kind").value(is_beam ? "beam" : "particles");
  json.key("size").value(health.size);
  if (!is_beam) json.key("resampled").value(health.resampled);
  write_single(json, is_beam ? "lost_mass" : "effective_size", parts, health.series);
  json.end_object();
}

}  // namespace

void write_stream(JsonWriter& json, const StateParts& parts) {
  const StreamReport& stream = *parts.stream;
  json.begin_object();
  json.key("observations").value(stream.observations);
  json.key("sequences").value(stream.sequences);
  json.key("impossible_observations").value(stream.impossible);
  json.key("missing_cells").value(stream.missing_cells);
  json.key("log_likelihood").value(stream.log_likelihood);
  json.key("median_explained").value(stream.median_explained);
  json.key("explained");
  write_rounded(json, stream.explained);
  json.key("mean_counts");
  write_rounded(json, stream.mean_counts);
  json.key("shares").begin_array();
  for (const double share : stream.shares) json.value(share);
  json.end_array();
  write_activations(json, parts, stream.activations);
  write_single(json, "log_predictive", parts, stream.log_predictive);
  write_health(json, parts);
  write_predictions(json, parts);
  write_calibration(json, stream.tail_probabilities);
  write_surprises(json, parts);
  if (stream.forecast.horizon > 0) write_forecast(json, parts);
  json.end_object();
}

}  // namespace headwater
