#include "headwater/learning/channel_totals.hpp"

namespace headwater {

ChannelTotals totals_of(const RecordView& observations) {
  const Index channels = observations.num_channels();
  const Vector all = Vector::Constant(channels, static_cast<double>(observations.size()));
  ChannelTotals totals{Vector::Zero(channels), all, all};
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    for (std::size_t j = 0; j < y.channels().size(); ++j) {
      totals.counts[y.channels()[j]] += y.counts()[j];
    }
    for (std::size_t j = 0; j < y.exposed().size(); ++j) {
      const double exposure = y.exposures()[j];
      totals.exposures[y.exposed()[j]] += exposure - 1;
      totals.squared_exposures[y.exposed()[j]] += exposure * exposure - 1;
    }
  }
  totals.exposures = totals.exposures.cwiseMax(0);
  totals.squared_exposures = totals.squared_exposures.cwiseMax(0);
  return totals;
}

}  // namespace headwater
