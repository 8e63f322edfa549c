#include "headwater/emission/count_masses.hpp"

namespace headwater {

// By counting.
void CountMasses::sort(std::span<const Observation* const> observations, Index num_channels,
                       Of of) {
  begin_.assign(static_cast<std::size_t>(num_channels) + 1, 0);
  for (const Observation* y : observations) {
    if (y == nullptr) continue;
    for (const Index m : y->channels()) ++begin_[static_cast<std::size_t>(m) + 1];
  }
  for (std::size_t m = 1; m < begin_.size(); ++m) begin_[m] += begin_[m - 1];
  cells_.resize(begin_.back());
  for (std::size_t t = observations.size(); t-- > 0;) {
    if (observations[t] == nullptr) continue;
    const Observation& y = *observations[t];
    for (std::size_t j = 0; j < y.channels().size(); ++j) {
      const auto m = static_cast<std::size_t>(y.channels()[j]);
      cells_[--begin_[m + 1]] = {static_cast<Index>(t), of == Of::kCounts ? y.counts()[j] : 1};
    }
  }
  // begin_[m + 1] is now where channel m begins.
  for (std::size_t m = 0; m + 1 < begin_.size(); ++m) begin_[m] = begin_[m + 1];
  begin_.back() = cells_.size();
}

}  // namespace headwater
