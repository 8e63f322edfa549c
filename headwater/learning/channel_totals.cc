#include "headwater/learning/channel_totals.hpp"

namespace headwater {

ChannelTotals totals_of(const RecordView& observations) {
  const Index channels = observations.num_channels();
  ChannelTotals totals{Vector::Zero(channels),
                       Vector::Constant(channels, static_cast<double>(observations.size()))};
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    for (std::size_t j = 0; j < y.channels().size(); ++j) {
      totals.counts[y.channels()[j]] += y.counts()[j];
    }
    for (std::size_t j = 0; j < y.exposed().size(); ++j) {
      totals.exposures[y.exposed()[j]] += y.exposures()[j] - 1;
    }
  }
  totals.exposures = totals.exposures.cwiseMax(0);
  return totals;
}

}  // namespace headwater
