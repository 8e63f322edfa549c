#include "headwater/emission/shared_rows.hpp"

#include <algorithm>
#include <limits>

#include "headwater/parallel/ranks.hpp"
#include "headwater/reducer.hpp"

namespace headwater {

namespace {

thread_local bool rows_are_shared = false;

struct ChannelRange {
  Index first = 0;
  Index end = std::numeric_limits<Index>::max();
};

ChannelRange own_channels() {
  const SharedChannels* const shared = SharedChannels::now();
  if (shared == nullptr || !(rows_are_shared || shared->keeps_own_rows())) return {};
  return {shared->first_own(), shared->end_of_own()};
}

}  // namespace

SharedRows::SharedRows(Statistics& statistics) : statistics_(statistics) {
  rows_are_shared = SharedChannels::now() != nullptr;
}

SharedRows::~SharedRows() { rows_are_shared = false; }

void SharedRows::gather() {
  SharedChannels* const shared = SharedChannels::now();
  rows_are_shared = false;
  if (shared == nullptr || shared->keeps_own_rows()) return;
  const Index channels = statistics_.s2.rows();
  shared->gather_rows(statistics_.s2);
  if (statistics_.unseen.size() > 0) shared->gather_rows(statistics_.unseen);
  // What a law shares of its own statistics comes first, channel by channel. The rest every rank
  // has added up itself.
  const Index per_channel = statistics_.s4.size() / channels;
  if (per_channel == 0) return;
  auto own = statistics_.s4.head(per_channel * channels).reshaped(per_channel, channels);
  Matrix by_channel = own.transpose();
  shared->gather_rows(by_channel);
  own = by_channel.transpose();
}

Stretch own_rows(Index num_channels) {
  const ChannelRange own = own_channels();
  const Index end = std::min(own.end, num_channels);
  return {static_cast<std::size_t>(own.first), static_cast<std::size_t>(end - own.first)};
}

Stretch own_part(std::span<const Index> channels) {
  const ChannelRange own = own_channels();
  const auto first = std::ranges::lower_bound(channels, own.first);
  const auto end = std::ranges::lower_bound(channels, own.end);
  return {static_cast<std::size_t>(first - channels.begin()),
          static_cast<std::size_t>(end - first)};
}

void gather_list(std::span<const Index> channels, std::span<double> values) {
  SharedChannels* const shared = SharedChannels::now();
  if (shared != nullptr) shared->gather_list(channels, values);
}

Vector shared_column_sums(const Matrix& rows) {
  if (!rows_are_shared) return column_sums(rows);
  Vector sums = Vector::Zero(rows.cols());
  Reducer::shared_sum(
      stretches_of_all(rows.rows()), as_span(sums),
      [&](const Stretch& stretch, std::span<double> to) { add_column_sums(rows, stretch, to); });
  return sums;
}

}  // namespace headwater
