#include "headwater/season.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headwater/error.hpp"

namespace headwater {

namespace {

bool is_profile(const Matrix& profile) {
  return profile.size() > 0 && profile.allFinite() && (profile.array() >= 0).all() &&
         (profile.rowwise().sum().array() > 0).all();
}

// A row that has been scaled before stays as it is, to the last bit: models that are read are the
// models that were written.
void scale_rows_to_mean_1(Matrix& profile) {
  const double rounding =
      static_cast<double>(profile.cols()) * std::numeric_limits<double>::epsilon();
  for (Index k = 0; k < profile.rows(); ++k) {
    const double mean = profile.row(k).mean();
    if (std::abs(mean - 1) > rounding) profile.row(k) /= mean;
  }
}

}  // namespace

Season::Season(std::vector<Matrix> profiles) : profiles_(std::move(profiles)) {
  for (Matrix& profile : profiles_) {
    if (!is_profile(profile)) {
      throw UsageError("a profile has an entry that is negative or not finite, or a row of zeros");
    }
    if (profile.rows() != num_components()) {
      throw UsageError(fmt::format("profiles have {} and {} rows; expected one for each component",
                                   num_components(), profile.rows()));
    }
    scale_rows_to_mean_1(profile);
  }
}

Season Season::flat(Index num_components, const std::vector<Index>& periods) {
  Season season;
  for (const Index period : periods) {
    season.profiles_.emplace_back(Matrix::Ones(num_components, period));
  }
  return season;
}

void Season::set_profile(std::size_t which, const Matrix& profile) {
  profiles_[which] = profile;
  scale_rows_to_mean_1(profiles_[which]);
}

void Season::set_channel_profiles(std::vector<Matrix> profiles) {
  bool fits = profiles.empty() || profiles.size() == profiles_.size();
  for (std::size_t p = 0; fits && p < profiles.size(); ++p) {
    const Matrix& gains = profiles[p];
    fits = gains.cols() == profiles_[p].cols() && gains.rows() == profiles[0].rows() &&
           gains.allFinite() && (gains.array() > 0).all();
  }
  if (!fits) {
    throw UsageError(
        "the channels' profiles do not fit the periods, or have an entry that is not above 0");
  }
  channel_profiles_ = std::move(profiles);
}

std::int64_t Season::cycle() const {
  std::int64_t cycle = 1;
  for (const Matrix& profile : profiles_) {
    const std::int64_t factor = profile.cols() / std::gcd(cycle, std::int64_t{profile.cols()});
    if (cycle > std::numeric_limits<std::int64_t>::max() / factor) return 0;
    cycle *= factor;
  }
  return cycle;
}

Vector Season::gains(std::int64_t position, Index num_columns) const {
  Vector gains = Vector::Ones(num_columns);
  for (const Matrix& profile : profiles_) {
    gains.head(profile.rows()).array() *= profile.col(position % profile.cols()).array();
  }
  return gains;
}

void Season::exchange(StateArchive& archive) {
  auto count = static_cast<Index>(profiles_.size());
  archive.count(count);
  if (archive.is_reading()) profiles_.assign(static_cast<std::size_t>(count), Matrix());
  for (Matrix& profile : profiles_) {
    archive(profile);
    archive.expect(is_profile(profile) && profile.rows() == num_components() &&
                       profile.cols() <= kLongestPeriod,
                   "an invalid profile");
  }
  auto channels = static_cast<Index>(channel_profiles_.size());
  archive.count(channels);
  archive.expect(channels == 0 || channels == count, "invalid profiles of channels");
  if (archive.is_reading()) channel_profiles_.assign(static_cast<std::size_t>(channels), Matrix());
  for (std::size_t p = 0; p < channel_profiles_.size(); ++p) {
    const Matrix& gains = channel_profiles_[p];
    archive(channel_profiles_[p]);
    archive.expect(gains.allFinite() && (gains.array() > 0).all() &&
                       gains.rows() == channel_profiles_[0].rows() &&
                       gains.cols() == profiles_[p].cols(),
                   "an invalid profile of a channel");
  }
}

}  // namespace headwater
