#include "headwater/observation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

#include "headwater/error.hpp"

namespace headwater {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string place(std::int64_t number, Index channel) {
  return number > 0 ? fmt::format("observation {}, channel {}", number, channel + 1)
                    : fmt::format("channel {}", channel + 1);
}

[[noreturn]] void refuse_count(std::int64_t number, Index channel, double count) {
  throw InputError(fmt::format("{}: {} found; observations must be from 0 to {:g}",
                               place(number, channel), count, kLargestCount));
}

[[noreturn]] void refuse_exposure(std::int64_t number, Index channel, double exposure) {
  throw InputError(fmt::format("{}: exposure {} found; exposures must be 0, or from {:g} to {:g}",
                               place(number, channel), exposure, kSmallestExposure,
                               kLargestExposure));
}

bool is_count_in_range(double value) { return value >= 0 && value <= kLargestCount; }

bool is_exposure_in_range(double value) {
  return value == 0 || (value >= kSmallestExposure && value <= kLargestExposure);
}

}  // namespace

namespace {

// Cells that a list has room for from the beginning, if there are as many channels.
constexpr std::size_t kFirstRoom = 64;

template <class T>
void copy_list(const std::vector<T>& from, std::size_t num_channels, std::vector<T>& to) {
  if (from.size() > to.capacity()) {
    const std::size_t room = std::max(kFirstRoom, from.size() + from.size() / 2);
    to.reserve(std::min(num_channels, room));
  }
  to.assign(from.begin(), from.end());
}

}  // namespace

Observation& Observation::operator=(const Observation& other) {
  const auto num_channels = static_cast<std::size_t>(other.num_channels_);
  num_channels_ = other.num_channels_;
  num_missing_ = other.num_missing_;
  position_ = other.position_;
  begins_sequence_ = other.begins_sequence_;
  time_ = other.time_;
  copy_list(other.channels_, num_channels, channels_);
  copy_list(other.counts_, num_channels, counts_);
  copy_list(other.exposed_, num_channels, exposed_);
  copy_list(other.exposures_, num_channels, exposures_);
  copy_list(other.dispersions_, num_channels, dispersions_);
  return *this;
}

void Observation::begin(Index num_channels) {
  num_channels_ = num_channels;
  num_missing_ = 0;
  begins_sequence_ = false;
  time_ = kMissing;
  channels_.clear();
  counts_.clear();
  exposed_.clear();
  exposures_.clear();
  dispersions_.clear();
}

void Observation::add_exposure(Index channel, double exposure) {
  exposed_.push_back(channel);
  exposures_.push_back(exposure);
  if (exposure == 0) ++num_missing_;
}

void Observation::add(Index channel, double count, std::int64_t number) {
  assert(channel >= 0 && channel < num_channels_);
  assert(channels_.empty() || channels_.back() < channel);
  assert(exposed_.empty() || exposed_.back() < channel);
  if (count > 0 && count <= kLargestCount) {
    channels_.push_back(channel);
    counts_.push_back(count);
  } else if (std::isnan(count)) {
    add_exposure(channel, 0);
  } else if (count != 0) {
    refuse_count(number, channel, count);
  }
}

void Observation::assign(std::span<const double> counts, std::span<const double> exposures,
                         std::int64_t number) {
  if (!exposures.empty() && exposures.size() != counts.size()) {
    throw InputError(fmt::format("observation{} has {} channels and {} exposures",
                                 number > 0 ? fmt::format(" {}", number) : "", counts.size(),
                                 exposures.size()));
  }
  const auto size = static_cast<Index>(counts.size());
  begin(size);
  for (Index m = 0; m < size; ++m) {
    const double count = counts[m];
    if (!is_count_in_range(count) && !std::isnan(count)) refuse_count(number, m, count);
    double exposure = 1;
    if (!exposures.empty()) {
      exposure = exposures[m];
      if (!is_exposure_in_range(exposure)) refuse_exposure(number, m, exposure);
    }
    if (std::isnan(count)) exposure = 0;
    if (exposure != 1) add_exposure(m, exposure);
    if (exposure == 0 || count == 0) continue;
    channels_.push_back(m);
    counts_.push_back(count);
  }
}

void Observation::assign_missing(Index num_channels) {
  begin(num_channels);
  for (Index m = 0; m < num_channels; ++m) add_exposure(m, 0);
}

void Observation::set_exposures(std::span<const double> exposures) {
  assert(static_cast<Index>(exposures.size()) == num_channels_);
  const std::vector<Index> missing = std::move(exposed_);
  exposed_.clear();
  exposures_.clear();
  num_missing_ = 0;
  std::size_t missing_at = 0;
  std::size_t count_at = 0;
  std::size_t kept = 0;
  for (Index m = 0; m < num_channels_; ++m) {
    double exposure = exposures[m];
    if (!is_exposure_in_range(exposure)) refuse_exposure(0, m, exposure);
    if (missing_at < missing.size() && missing[missing_at] == m) {
      ++missing_at;
      exposure = 0;
    }
    if (exposure != 1) add_exposure(m, exposure);
    if (count_at == channels_.size() || channels_[count_at] != m) continue;
    if (exposure > 0) {
      channels_[kept] = m;
      counts_[kept++] = counts_[count_at];
    }
    ++count_at;
  }
  channels_.resize(kept);
  counts_.resize(kept);
}

void Observation::multiply_exposures(const Vector& factors) {
  assert(factors.size() == num_channels_);
  // From the last channel to the first, since the list of exposures grows in place.
  std::size_t given = exposed_.size();
  exposed_.resize(static_cast<std::size_t>(num_channels_));
  exposures_.resize(exposed_.size());
  for (Index m = num_channels_; m-- > 0;) {
    const bool is_given = given > 0 && exposed_[given - 1] == m;
    const double exposure = is_given ? exposures_[--given] : 1;
    const auto at = static_cast<std::size_t>(m);
    exposed_[at] = m;
    exposures_[at] =
        exposure == 0 ? 0 : std::clamp(exposure * factors[m], kSmallestExposure, kLargestExposure);
  }
}

void Observation::set_levels(const ExpectedLevels& levels) {
  assert(levels.dispersions.size() == num_channels_);
  multiply_exposures(levels.means);
  dispersions_.assign(levels.dispersions.begin(), levels.dispersions.end());
}

void Observation::write_counts(std::span<double> out) const {
  std::ranges::fill(out, 0);
  for (std::size_t j = 0; j < channels_.size(); ++j) out[channels_[j]] = counts_[j];
  for (std::size_t j = 0; j < exposed_.size(); ++j) {
    if (exposures_[j] == 0) out[exposed_[j]] = kMissing;
  }
}

void Observation::write_exposures(std::span<double> out) const {
  std::ranges::fill(out, 1);
  for (std::size_t j = 0; j < exposed_.size(); ++j) out[exposed_[j]] = exposures_[j];
}

void Observation::exchange(StateArchive& archive) {
  archive.count(num_channels_);
  archive(channels_, counts_, exposed_, exposures_, dispersions_, begins_sequence_, time_,
          position_);
  if (!archive.is_reading()) return;
  const auto is_list = [&](const std::vector<Index>& channels) {
    return std::ranges::is_sorted(channels, std::less_equal{}) &&
           (channels.empty() || (channels.front() >= 0 && channels.back() < num_channels_));
  };
  const bool is_valid =
      position_ >= 0 && is_list(channels_) && is_list(exposed_) &&
      channels_.size() == counts_.size() && exposed_.size() == exposures_.size() &&
      std::ranges::all_of(counts_,
                          [](double count) { return count > 0 && is_count_in_range(count); }) &&
      std::ranges::all_of(exposures_, is_exposure_in_range) &&
      (dispersions_.empty() || static_cast<Index>(dispersions_.size()) == num_channels_) &&
      std::ranges::all_of(dispersions_, [](double phi) { return phi >= 0 && std::isfinite(phi); });
  if (!is_valid) throw InputError("the saved state has an invalid observation");
  num_missing_ = std::ranges::count(exposures_, 0.0);
}

}  // namespace headwater
