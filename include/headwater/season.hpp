#pragma once

#include <cstdint>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// The longest period, and the largest number of periods.
inline constexpr Index kLongestPeriod = 100'000;
inline constexpr Index kMostPeriods = 4;

// What the profiles are called where they are held.
inline constexpr const char* kProfile = "profile";
// ... and those of the channels alone.
inline constexpr const char* kChannelProfile = "channel_profile";

// How the strength of each component depends on the time of the day, of the week, and so on. At
// position t of the stream, component k is multiplied by the product over the periods P of
//   profile_P(k, t mod P).
// Every row of a profile has the mean 1. Without a period nothing is multiplied.
//
// Channels may have a season of their own beside that: at position t, the mean of channel m is
// multiplied by the product of channel_profile_P(m, t mod P) too. Emission::at() does not know of
// these gains; engines give them to observations as exposures (see GainsEngine).
class HEADWATER_EXPORT Season {
 public:
  Season() = default;
  // One K x P matrix for each period. Throws UsageError for a profile that is none.
  explicit Season(std::vector<Matrix> profiles);
  // All entries are 1.
  static Season flat(Index num_components, const std::vector<Index>& periods);

  bool empty() const { return profiles_.empty(); }
  Index num_components() const { return empty() ? 0 : profiles_.front().rows(); }
  const std::vector<Matrix>& profiles() const { return profiles_; }
  // One M x P matrix for each period, in the same order; empty if channels have no season of their
  // own. Throws UsageError for a matrix that is no such profile.
  const std::vector<Matrix>& channel_profiles() const { return channel_profiles_; }
  void set_channel_profiles(std::vector<Matrix> profiles);
  // Rows are scaled to the mean 1.
  void set_profile(std::size_t which, const Matrix& profile);

  // Two positions that differ by a multiple of this have the same gains. 0: no 64-bit number.
  std::int64_t cycle() const;
  // The gain of each of the components; 1 for further columns, which are a background.
  Vector gains(std::int64_t position, Index num_columns) const;

  void exchange(StateArchive& archive);

 private:
  std::vector<Matrix> profiles_;
  std::vector<Matrix> channel_profiles_;
};

}  // namespace headwater
