#include "headwater/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "headwater/error.hpp"
#include "headwater/session/joint_p.hpp"

namespace headwater {

namespace {

// Of the row, its total, its channels and its silences. What an alarm is mostly about is one
// channel, which only the third of them sees; it has as much weight as the others together. The row
// sees what the total does, and more, where activations move faster than anybody foresees.
constexpr std::array<double, 4> kWeights = {1.0 / 4, 1.0 / 8, 1.0 / 2, 1.0 / 8};

// As many rows of a right model stand in for what a channel has not shown yet.
constexpr double kRowsOfHabit = 20;
// A busy channel has a count in nearly every row, which says nothing of what a silence is worth:
// none is taken for more than twice as surprising as the model says.
constexpr double kLeastScale = 0.5;

// P(the smallest of n independent p-values <= p).
double smallest_of(double n, double p) { return p < 1 ? -std::expm1(n * std::log1p(-p)) : 1; }

double number_in(std::string_view text, std::string_view whole) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) ||
      !std::isfinite(value)) {
    throw UsageError(fmt::format(
        "alarms-per: '{}' found; expected ROWS:N, such as 1000:1 for one false alarm in 1000 rows",
        whole));
  }
  return value;
}

}  // namespace

AlarmRate AlarmRate::parse(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view alarms = colon < text.size() ? text.substr(colon + 1) : "";
  const AlarmRate rate{number_in(text.substr(0, colon), text), number_in(alarms, text)};
  if (rate.alarms > rate.rows) {
    throw UsageError(
        fmt::format("alarms-per: '{}' found; expected no more alarms than rows", text));
  }
  return rate;
}

std::string AlarmRate::text() const { return fmt::format("{}:{}", rows, alarms); }

double Watch::Habit::scale() const {
  return std::max(kLeastScale, (kRowsOfHabit + surprise) / (kRowsOfHabit + rows_with_count));
}

Watch::Longest Watch::take_in_silences(const Observation& y) {
  silences_.resize(static_cast<std::size_t>(y.num_channels()));
  habits_.resize(silences_.size());
  if (y.begins_sequence()) std::ranges::fill(silences_, Silence{});
  Longest longest;
  for_each_seen(y, [&](Index m, double count, double) {
    Silence& silence = silences_[static_cast<std::size_t>(m)];
    Habit& habit = habits_[static_cast<std::size_t>(m)];
    if (count > 0) {
      silence = {};
      ++habit.rows_with_count;
      return;
    }
    const double surprise = meter_.log_silences()[m];
    silence.surprise += surprise;
    silence.expected += meter_.silent_means()[m];
    ++silence.rows;
    const double scaled = silence.surprise / habit.scale();
    habit.surprise += surprise;
    if (scaled > longest.of_all) {
      longest.of_all = scaled;
      longest.channel = m;
    }
    if (!silence.is_told && scaled > longest.of_new) {
      longest.of_new = scaled;
      longest.new_channel = m;
    }
  });
  return longest;
}

// Of the ranks of the p-values, and the smallest of them.
Watch::Joint Watch::joint(const PValues& p, double level) const {
  PValues ranked{};
  for (std::size_t kind = 0; kind < kSilence; ++kind) {
    ranked[kind] = ranks_[kind].rank(p[kind], level);
  }
  ranked[kSilence] = silence_ranks_.rank(p[kSilence]);
  const auto worst = std::ranges::min_element(ranked);
  return {joint_p(ranked, kWeights), static_cast<Kind>(worst - ranked.begin())};
}

const Alarm& Watch::operator()(const Engine& engine, const Observation& y, std::int64_t t) {
  const RowSurprise& row = meter_(engine, y, t);
  const Longest longest = take_in_silences(y);
  const auto channels = static_cast<double>(silences_.size());
  PValues p{};
  p[kRow] = row.p_row;
  p[kTotal] = row.p_total;
  p[kChannels] = row.p_channels;
  p[kSilence] = smallest_of(channels, std::exp(-longest.of_new));
  PValues all = p;
  all[kSilence] = smallest_of(channels, std::exp(-longest.of_all));
  const double level = std::log1p(row.expected_total);
  const Joint news = joint(p, level);

  alarm_.t = t;
  alarm_.p = joint_.rank(joint(all, level).p);
  alarm_.p_row = row.p_row;
  alarm_.p_total = row.p_total;
  alarm_.p_channels = smallest_of(2, std::min(all[kChannels], all[kSilence]));
  alarm_.expected_total = row.expected_total;
  alarm_.seen_total = row.seen_total;
  alarm_.is_alarm = y.any_seen() && joint_.rank(news.p) <= rate_.per_row();
  list_channels(row, longest.channel);
  if (alarm_.is_alarm && news.kind == kSilence) {
    silences_[static_cast<std::size_t>(longest.new_channel)].is_told = true;
  }
  if (y.any_seen()) {
    for (std::size_t kind = 0; kind < kSilence; ++kind) ranks_[kind].add(p[kind], level);
    silence_ranks_.add(p[kSilence]);
    joint_.add(news.p);
  }
  return alarm_;
}

// Those of the row, and the channel that has been silent most surprisingly.
void Watch::list_channels(const RowSurprise& row, Index quiet) {
  alarm_.channels.clear();
  for (const CellSurprise& cell : row.channels) alarm_.channels.push_back({cell});
  const Silence& silence = silences_[static_cast<std::size_t>(quiet)];
  const double p = std::exp(-silence.surprise);
  if (silence.rows < 2 || (!row.channels.empty() && p >= row.channels.front().p)) return;
  std::erase_if(alarm_.channels, [&](const auto& other) { return other.cell.channel == quiet; });
  alarm_.channels.insert(alarm_.channels.begin(), {{quiet, silence.expected, 0, p}, silence.rows});
}

}  // namespace headwater
