#include "headwater/learning/seasonal_start.hpp"

#include <algorithm>

#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/profile.hpp"

namespace headwater {

namespace {

// Multiplications in the search for profiles of the components: a second or two.
constexpr double kMostProfileWork = 2e9;
constexpr int kMostProfileSweeps = 300;
constexpr int kFewestProfileSweeps = 20;

double gain_at(const std::vector<Matrix>& profiles, Index channel, std::int64_t position) {
  double gain = 1;
  for (const Matrix& profile : profiles) gain *= profile(channel, position % profile.cols());
  return gain;
}

// Counts, and counts that are expected if the channel is as the profiles so far say.
struct ChannelSums {
  Matrix counts;
  Matrix expected;
};

ChannelSums sums_of_phases(const RecordView& observations, const std::vector<Matrix>& profiles,
                           Index period) {
  const Index channels = observations.num_channels();
  ChannelSums sums{Matrix::Zero(channels, period), Matrix::Zero(channels, period)};
  Vector total = Vector::Zero(channels);
  Vector exposed = Vector::Zero(channels);
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    const Index phase = y.position() % period;
    for_each_seen(y, [&](Index m, double count, double exposure) {
      const double expected = exposure * gain_at(profiles, m, y.position());
      sums.counts(m, phase) += count;
      sums.expected(m, phase) += expected;
      total[m] += count;
      exposed[m] += expected;
    });
  }
  for (Index m = 0; m < channels; ++m) {
    if (exposed[m] > 0) sums.expected.row(m) *= total[m] / exposed[m];
  }
  return sums;
}

// One sweep of multiplicative updates for R ~ W S + base [LeeSeung2001]: W, then S.
void sweep(const Matrix& rates, const Vector& base, Columns columns, Matrix& strengths,
           Matrix& profile) {
  const auto ratios = [&]() -> Matrix {
    Matrix fitted = strengths * profile;
    fitted.colwise() += base;
    return (fitted.array() > 0).select(rates.array() / fitted.array(), 0);
  };
  const Vector profile_sums = profile.rowwise().sum();
  const Matrix shares = ratios() * profile.transpose();
  for (Index k = 0; k < strengths.cols() && columns == Columns::kChange; ++k) {
    if (profile_sums[k] > 0) strengths.col(k).array() *= shares.col(k).array() / profile_sums[k];
  }
  const Matrix counts = strengths.transpose() * ratios();
  const Vector sums = column_sums(strengths);
  for (Index k = 0; k < profile.rows(); ++k) {
    if (sums[k] > 0) profile.row(k).array() *= counts.row(k).array() / sums[k];
    const double mean = profile.row(k).mean();
    if (!(mean > 0)) continue;
    profile.row(k) /= mean;
    if (columns == Columns::kChange) strengths.col(k) *= mean;
  }
}

}  // namespace

std::vector<Matrix> channel_profiles(const RecordView& observations,
                                     const std::vector<Index>& periods) {
  std::vector<Matrix> profiles;
  for (const Index period : periods) {
    const ChannelSums sums = sums_of_phases(observations, profiles, period);
    Matrix profile(sums.counts.rows(), period);
    for (Index m = 0; m < profile.rows(); ++m) {
      profile.row(m) = shrunk_rates(sums.counts.row(m), sums.expected.row(m));
      profile.row(m) /= profile.row(m).mean();
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

Record without_season(const RecordView& observations, const std::vector<Matrix>& profiles) {
  Record record;
  std::vector<double> exposures(static_cast<std::size_t>(observations.num_channels()));
  for (Index t = 0; t < observations.size(); ++t) {
    Observation y = observations[t];
    y.write_exposures(exposures);
    for (std::size_t m = 0; m < exposures.size(); ++m) {
      const double exposure = exposures[m] * gain_at(profiles, static_cast<Index>(m), y.position());
      exposures[m] =
          exposures[m] == 0 ? 0 : std::clamp(exposure, kSmallestExposure, kLargestExposure);
    }
    y.set_exposures(exposures);
    record.add(y);
  }
  return record;
}

Estimate with_season(Estimate estimate, const std::vector<Matrix>& profiles, Columns columns) {
  if (profiles.empty()) return estimate;
  const Index components = estimate.prior.num_components();
  const Vector activation = mean_activation(estimate.prior);
  Matrix strengths = estimate.basis.leftCols(components) * activation.asDiagonal();
  Vector base = Vector::Zero(estimate.basis.rows());
  if (estimate.basis.cols() > components) base = estimate.basis.col(components);
  std::vector<Matrix> of_components;
  for (const Matrix& profile : profiles) {
    const Matrix rates = (strengths.rowwise().sum() + base).asDiagonal() * profile;
    Matrix own = Matrix::Ones(components, profile.cols());
    // As each channel's share in the component has it, and from there to the best.
    for (Index k = 0; k < components; ++k) {
      const double sum = strengths.col(k).sum();
      if (sum > 0) own.row(k) = strengths.col(k).transpose() * profile / sum;
    }
    const double work = static_cast<double>(rates.size()) * static_cast<double>(4 * components);
    const int sweeps = std::clamp(static_cast<int>(std::min(1e9, kMostProfileWork / work)),
                                  kFewestProfileSweeps, kMostProfileSweeps);
    for (int i = 0; i < sweeps; ++i) sweep(rates, base, columns, strengths, own);
    of_components.push_back(std::move(own));
  }
  for (Index k = 0; k < components; ++k) {
    if (columns == Columns::kStay) break;
    if (activation[k] > 0) estimate.basis.col(k) = strengths.col(k) / activation[k];
  }
  estimate.season = Season(std::move(of_components));
  return estimate;
}

}  // namespace headwater
