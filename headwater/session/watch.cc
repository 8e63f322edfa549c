#include "headwater/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "headwater/error.hpp"

namespace headwater {

namespace {

constexpr double kLeastRanked = 1e-300;
constexpr double kFarthest = 5;  // times the scale

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

PValueRanks::PValueRanks() {
  for (std::size_t i = 0; i < kExpected; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(kExpected);
    sorted_.push_back(-std::log(p));
  }
  // They leave the window in an order that keeps what is left uniform.
  for (std::size_t i = 0; i < kExpected; ++i) window_.push_back(sorted_[i * 77 % kExpected]);
}

double PValueRanks::rank(double p) const {
  const double score = -std::log(std::max(p, kLeastRanked));
  const auto all = static_cast<double>(sorted_.size() + 1);
  const std::size_t border = sorted_.size() / 10;  // so many scores lie above sorted_[border]
  // What is far beyond the scale of most scores counts as what is not quite so far.
  const double scale = (sorted_[border] - sorted_[sorted_.size() / 2]) / std::log(5.0);
  const double farthest = kFarthest * std::max(1.0, scale);
  double excesses = 0;
  for (std::size_t i = 0; i < border; ++i) {
    excesses += std::min(sorted_[i] - sorted_[border], farthest);
  }
  const double excess = score - sorted_[border];
  if (excess > 0 && excesses > 0) {
    const auto k = static_cast<double>(border);
    return (k + 1) / all * std::pow(1 + excess / excesses, -k);
  }
  // Not std::ranges::equal_range, which clang 14 does not compile.
  const auto [first, last] =
      std::equal_range(sorted_.begin(), sorted_.end(), score, std::greater{});
  return (static_cast<double>(first - sorted_.begin()) +
          0.5 * (1 + static_cast<double>(last - first))) /
         all;
}

// Once there are as many observations as numbers that stand in, each takes the place of one.
void PValueRanks::add(double p) {
  const double score = -std::log(std::clamp(p, kLeastRanked, 1.0));
  sorted_.insert(std::ranges::upper_bound(sorted_, score, std::greater{}), score);
  window_.push_back(score);
  const bool has_enough = window_.size() - num_expected_ > kExpected;
  const bool stands_in = num_expected_ > 0;
  if (!(has_enough && stands_in) && window_.size() <= kWindow) return;
  sorted_.erase(std::ranges::lower_bound(sorted_, window_.front(), std::greater{}));
  window_.pop_front();
  if (stands_in) --num_expected_;
}

Watch::Longest Watch::take_in_silences(const Observation& y) {
  silences_.resize(static_cast<std::size_t>(y.num_channels()));
  if (y.begins_sequence()) std::ranges::fill(silences_, Silence{});
  Longest longest;
  for_each_seen(y, [&](Index m, double count, double) {
    Silence& silence = silences_[static_cast<std::size_t>(m)];
    if (count > 0) {
      silence = {};
    } else {
      silence.surprise += meter_.log_silences()[m];
      silence.expected += meter_.silent_means()[m];
      ++silence.rows;
    }
    if (silence.surprise > longest.of_all) {
      longest.of_all = silence.surprise;
      longest.channel = m;
    }
    if (!silence.is_told && silence.surprise > longest.of_new) {
      longest.of_new = silence.surprise;
      longest.new_channel = m;
    }
  });
  return longest;
}

// The smallest rank of the p-values, corrected for being the smallest.
Watch::Joint Watch::joint(const PValues& p) const {
  PValues ranked{};
  for (std::size_t kind = 0; kind < kNumKinds; ++kind) ranked[kind] = ranks_[kind].rank(p[kind]);
  const auto worst = std::ranges::min_element(ranked);
  return {smallest_of(kNumKinds, *worst), static_cast<Kind>(worst - ranked.begin())};
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
  const Joint news = joint(p);

  alarm_.t = t;
  alarm_.p = joint_.rank(joint(all).p);
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
    for (std::size_t kind = 0; kind < kNumKinds; ++kind) ranks_[kind].add(p[kind]);
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
