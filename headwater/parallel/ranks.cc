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
    : ranks_(ranks), block_(block), num_blocks_((num_channels + block - 1) / block) {
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

SharedChannels::~SharedChannels() { current = nullptr; }

SharedChannels* SharedChannels::now() {
  return current != nullptr && current->num_at_work_ > 1 ? current : nullptr;
}

int SharedChannels::owner_of(Index block) const {
  const auto after = std::upper_bound(first_blocks_.begin(), first_blocks_.end(), block);
  return static_cast<int>(after - first_blocks_.begin()) - 1;
}

void SharedChannels::gather_rows(Eigen::Ref<Matrix> rows) {
  const Index columns = rows.cols();
  room_.resize(static_cast<std::size_t>(rows.size()));
  const auto part_of = [&](int rank) {
    const Index first = first_channel(rank);
    const Index size = first_channel(rank + 1) - first;
    return std::pair(rows.middleRows(first, size),
                     Eigen::Map<Matrix>(room_.data() + first * columns, size, columns));
  };
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    counts_[static_cast<std::size_t>(rank)] =
        (first_channel(rank + 1) - first_channel(rank)) * columns;
  }
  auto [mine, sent] = part_of(ranks_.rank());
  sent = mine;
  ranks_.gather(room_, counts_);
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    if (rank == ranks_.rank()) continue;
    auto [theirs, received] = part_of(rank);
    theirs = received;
  }
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

}  // namespace headwater
