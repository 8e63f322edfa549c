#include "headwater/parallel/ranks.hpp"

#include <algorithm>
#include <cstring>

namespace headwater {

namespace {

thread_local SharedChannels* current = nullptr;

// Ranks have at least so many units of blocks each, where there are enough.
constexpr Index kUnitsARank = 4;

}  // namespace

std::vector<std::string> gather_bytes(Ranks& ranks, const std::string& own) {
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto here = static_cast<std::size_t>(ranks.rank());
  std::vector<double> lengths(size, 0);
  lengths[here] = static_cast<double>(own.size());
  std::vector<Index> counts(size, 1);
  ranks.gather(lengths, counts);
  // In units of a double.
  std::vector<std::size_t> begins = {0};
  for (std::size_t rank = 0; rank < size; ++rank) {
    const auto length = static_cast<std::size_t>(lengths[rank]);
    counts[rank] = static_cast<Index>((length + sizeof(double) - 1) / sizeof(double));
    begins.push_back(begins.back() + static_cast<std::size_t>(counts[rank]));
  }
  std::vector<double> room(begins.back(), 0);
  std::memcpy(room.data() + begins[here], own.data(), own.size());
  ranks.gather(room, counts);
  std::vector<std::string> all(size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    all[rank].resize(static_cast<std::size_t>(lengths[rank]));
    std::memcpy(all[rank].data(), room.data() + begins[rank], all[rank].size());
  }
  return all;
}

// Blocks are dealt out in units of a power of two. Sums of blocks are added in a binary tree, so
// that a rank then has few subtrees, and few messages to send.
SharedChannels::SharedChannels(Ranks& ranks, Index num_channels, Index block)
    : ranks_(ranks), num_channels_(num_channels), num_blocks_((num_channels + block - 1) / block) {
  const Index size = ranks.size();
  Index unit = 1;
  while (num_blocks_ / (2 * unit) >= kUnitsARank * size) unit *= 2;
  const Index units = (num_blocks_ + unit - 1) / unit;
  for (Index rank = 0; rank <= size; ++rank) {
    const Index first = std::min(rank * units / size * unit, num_blocks_);
    if (rank > 0 && first > first_blocks_.back()) ++num_at_work_;
    first_blocks_.push_back(first);
    first_channels_.push_back(std::min(first * block, num_channels));
  }
  counts_.resize(static_cast<std::size_t>(size));
  current = this;
}

SharedChannels::~SharedChannels() { end(); }

void SharedChannels::end() {
  if (current == this) current = nullptr;
}

SharedChannels* SharedChannels::now() {
  return current != nullptr && current->num_at_work_ > 1 ? current : nullptr;
}

SharedChannels* SharedChannels::of_own_rows() {
  SharedChannels* const shared = now();
  return shared != nullptr && shared->keeps_own_rows() ? shared : nullptr;
}

int SharedChannels::owner_of(Index block) const {
  const auto after = std::upper_bound(first_blocks_.begin(), first_blocks_.end(), block);
  return static_cast<int>(after - first_blocks_.begin()) - 1;
}

// Column by column, since the columns of a rank's rows are in one piece: there is no room for
// another matrix.
void SharedChannels::gather_rows(Eigen::Ref<Matrix> rows) {
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    counts_[static_cast<std::size_t>(rank)] = first_channel(rank + 1) - first_channel(rank);
  }
  for (Index k = 0; k < rows.cols(); ++k) ranks_.gather(as_span(rows.col(k)), counts_);
}

void SharedChannels::collect_rows(Matrix& rows) {
  const Index columns = rows.cols();
  if (ranks_.rank() > 0) {
    ranks_.send(as_span(rows), 0);
    rows = {};
    return;
  }
  Matrix all(num_channels_, columns);
  all.topRows(rows.rows()) = rows;
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    const Index first = first_channel(rank);
    rows.resize(first_channel(rank + 1) - first, columns);
    ranks_.receive(as_span(rows), rank);
    all.middleRows(first, rows.rows()) = rows;
  }
  rows = std::move(all);
}

void SharedChannels::gather_list(std::span<const Index> channels, std::span<double> values) {
  const auto place_of = [&](Index channel) {
    return std::ranges::lower_bound(channels, channel) - channels.begin();
  };
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    counts_[static_cast<std::size_t>(rank)] =
        place_of(first_channel(rank + 1)) - place_of(first_channel(rank));
  }
  ranks_.gather(values, counts_);
}

KeptRows kept_rows(Index num_channels) {
  const SharedChannels* const shared = SharedChannels::of_own_rows();
  if (shared == nullptr) return {0, num_channels};
  return {shared->first_own(), shared->end_of_own() - shared->first_own()};
}

Index num_channels_of(Index num_rows) {
  const SharedChannels* const shared = SharedChannels::of_own_rows();
  return shared == nullptr ? num_rows : shared->num_channels();
}

Stretch kept_part(std::span<const Index> channels, Index num_channels) {
  const KeptRows kept = kept_rows(num_channels);
  const auto first = std::ranges::lower_bound(channels, kept.first);
  const auto end = std::ranges::lower_bound(channels, kept.first + kept.size);
  return {static_cast<std::size_t>(first - channels.begin()),
          static_cast<std::size_t>(end - first)};
}

}  // namespace headwater
