#include "headwater/learning/basis_expectation.hpp"

#include <algorithm>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/channel_totals.hpp"

namespace headwater {

namespace {

constexpr int kScoringSteps = 50;
// With so many counts an entry is known to a fifth; fewer in one channel of twenty are scarce.
constexpr double kManyCountsOfEntry = 25;
constexpr double kManyChannels = 0.05;
// A column that starts with next to nothing may still grow: it is expected to have this part of
// what it would have if all columns had the same.
constexpr double kLeastShare = 0.1;
// Where no channel has a count at all, each is given this many.
constexpr double kHalfACount = 0.5;

// One over the shape of the gamma law of the means: the dispersion of the totals.
double dispersion_of(const ChannelTotals& totals, double mean) {
  NegativeBinomial law(Vector::Ones(1));
  for (int step = 0; step < kScoringSteps; ++step) {
    std::vector<double> sums(2, 0);
    for (Index m = 0; m < totals.counts.size(); ++m) {
      std::vector<double> own(2, 0);
      law.add_statistics(0, totals.counts[m], mean * totals.exposures[m], 1, own);
      sums[0] += own[0];
      sums[1] += own[1];
    }
    law.maximise(sums, 1, {});
  }
  return law.dispersion(0);
}

}  // namespace

Vector usual_channels(const RecordView& observations) {
  const ChannelTotals totals = totals_of(observations);
  const double exposure = totals.exposures.sum();
  const double mean = std::max(totals.counts.sum(), kHalfACount) / (exposure > 0 ? exposure : 1.0);
  // Gamma(a, b) with mean a / b and dispersion 1 / a becomes Gamma(a + counts, b + exposure).
  const double dispersion = dispersion_of(totals, mean);
  return mean * (1 + dispersion * totals.counts.array()) /
         (1 + dispersion * mean * totals.exposures.array());
}

BasisExpectation expectation_around(const Matrix& basis, const AnyPrior& prior,
                                    const Vector& channels) {
  Vector activation = Vector::Ones(basis.cols());
  activation.head(prior.num_components()) = mean_activation(prior);
  Vector counts = basis.colwise().sum().transpose().cwiseProduct(activation);
  const double least = kLeastShare * std::max(counts.mean(), 1e-300);
  counts = counts.cwiseMax(least);
  const Vector shares = counts / counts.sum();
  // A component that is never on has no scale; it is expected to be like the others.
  const Vector seen = activation.cwiseMax(1e-3 * activation.maxCoeff());
  return {0, channels, shares.cwiseQuotient(seen)};
}

bool has_scarce_counts(const RecordView& observations, Index num_columns) {
  const ChannelTotals totals = totals_of(observations);
  const auto scarce = static_cast<double>(
      (totals.counts.array() < kManyCountsOfEntry * static_cast<double>(num_columns)).count());
  return scarce > kManyChannels * static_cast<double>(totals.counts.size());
}

bool has_silent_channel(const RecordView& observations) {
  const ChannelTotals totals = totals_of(observations);
  return (totals.counts.array() == 0 && totals.exposures.array() > 0).any();
}

}  // namespace headwater
