#include "headwater/reducer.hpp"

namespace headwater {

void cut_into_stretches(std::span<const Index> channels, std::vector<Stretch>& out) {
  out.clear();
  for (std::size_t first = 0; first < channels.size();) {
    const Index end = (channels[first] / Reducer::kBlock + 1) * Reducer::kBlock;
    const auto next = std::lower_bound(channels.begin() + static_cast<std::ptrdiff_t>(first),
                                       channels.end(), end);
    const auto size = static_cast<std::size_t>(next - channels.begin()) - first;
    out.push_back({first, size});
    first += size;
  }
}

std::vector<Stretch> stretches_of_all(Index num_channels) {
  std::vector<Stretch> stretches;
  for (Index first = 0; first < num_channels; first += Reducer::kBlock) {
    stretches.push_back(
        {static_cast<std::size_t>(first),
         static_cast<std::size_t>(std::min(Reducer::kBlock, num_channels - first))});
  }
  return stretches;
}

Vector column_sums(const Matrix& basis) {
  Vector sums = Vector::Zero(basis.cols());
  for (const Stretch& stretch : stretches_of_all(basis.rows())) {
    sums += basis.middleRows(static_cast<Index>(stretch.first), static_cast<Index>(stretch.size))
                .colwise()
                .sum()
                .transpose();
  }
  return sums;
}

}  // namespace headwater
