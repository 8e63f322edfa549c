#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// Numbers in whose range arithmetic is safe: sums of products of some of them stay far from
// overflow, and their quotients too.
inline constexpr double kLargestCount = 1e15;
inline constexpr double kSmallestExposure = 1e-15;  // that is not 0
inline constexpr double kLargestExposure = 1e15;

// What the law of the counts expects of each channel's own level before an observation is seen (see
// law 'drifting'): the mean is multiplied by it, and the count is dispersed as the level is
// uncertain.
struct ExpectedLevels {
  Vector means;        // M; empty where channels have no level
  Vector dispersions;  // M: variance of the level over its squared mean

  bool any() const { return means.size() > 0; }
};

// One observation y_t as two lists: the channels that have a positive count, and the channels whose
// exposure is not 1. All other code reads these lists, so its work grows with the number of counts
// and not with the number of channels.
//
// The exposure of a channel is how long, or how much of it, was observed (hours, area, ...): the
// mean of channel m is exposure(m) lambda_m(x). A missing cell is a channel of exposure 0.
//
// The functions that fill an Observation check the values, so its contents are always valid. An
// Observation that is filled again and again keeps its memory.
class HEADWATER_EXPORT Observation {
 public:
  Observation() = default;
  Observation(const Observation&) = default;
  Observation(Observation&&) noexcept = default;
  // Reserves more memory than needed, so that repeated copies soon allocate no more.
  Observation& operator=(const Observation& other);
  Observation& operator=(Observation&&) noexcept = default;
  ~Observation() = default;
  // See assign().
  template <class Counts>
  requires std::convertible_to<const Counts&, std::span<const double>> Observation(
      const Counts& counts, std::span<const double> exposures = {}) {
    assign(counts, exposures);
  }

  // counts: one number for each channel; NaN is a missing cell. exposures: empty, which means 1 for
  // every channel, or one number for each channel; a cell of exposure 0 is missing, whatever its
  // count. Throws InputError for a count or an exposure that is negative or out of range, and for a
  // wrong number of exposures. `number` is the observation's, for the message; 0: not known.
  void assign(std::span<const double> counts, std::span<const double> exposures = {},
              std::int64_t number = 0);
  // All cells are missing.
  void assign_missing(Index num_channels);

  // From the entries of a sparse row: begin(), then add() for ascending channels. Channels without
  // an entry have the count 0. NaN is a missing cell. Throws InputError as assign() does.
  void begin(Index num_channels);
  void add(Index channel, double count, std::int64_t number = 0);
  // One exposure for each channel, for an observation that was filled without exposures.
  void set_exposures(std::span<const double> exposures);

  // Multiplies the exposure of each channel; missing cells stay missing.
  void multiply_exposures(const Vector& factors);
  // Multiplies the exposure of each channel by its expected level, and notes how the counts are
  // dispersed around that.
  void set_levels(const ExpectedLevels& levels);
  // For one drawn in place of another, with the exposures of that one.
  void take_dispersions(const Observation& other) { dispersions_ = other.dispersions_; }

  Index num_channels() const { return num_channels_; }

  // Its place in the stream, from 0: what the phases of a season are counted by. An observation
  // that is filled anew keeps it.
  std::int64_t position() const { return position_; }
  void set_position(std::int64_t position) { position_ = position; }

  // The channels with a positive count, ascending, and their counts.
  std::span<const Index> channels() const { return channels_; }
  std::span<const double> counts() const { return counts_; }
  // The channels whose exposure is not 1, ascending, and their exposures: 0 for a missing cell.
  std::span<const Index> exposed() const { return exposed_; }
  std::span<const double> exposures() const { return exposures_; }
  // After set_levels(), one number for each channel: what the law of the counts is to take in place
  // of its own dispersions. Otherwise empty.
  std::span<const double> dispersions() const { return dispersions_; }
  // Whether a new sequence begins here, such as a trial or a day: nothing before it says anything
  // about its activations. False wherever an observation is filled; to be set after that.
  bool begins_sequence() const { return begins_sequence_; }
  void set_begins_sequence(bool begins) { begins_sequence_ = begins; }
  // When it was made, in the units of its source; NaN if nobody says. Nothing depends on it: it is
  // there for those who write results down.
  double time() const { return time_; }
  void set_time(double time) { time_ = time; }
  // Whether at least one cell is not missing.
  bool any_seen() const { return num_missing_ < num_channels_; }

  // One number a channel, NaN where a cell is missing.
  void write_counts(std::span<double> out) const;
  // ... and one exposure a channel.
  void write_exposures(std::span<double> out) const;

  void exchange(StateArchive& archive);

 private:
  void add_exposure(Index channel, double exposure);

  Index num_channels_ = 0;
  Index num_missing_ = 0;
  std::int64_t position_ = 0;
  bool begins_sequence_ = false;
  double time_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<Index> channels_;
  std::vector<double> counts_;
  std::vector<Index> exposed_;
  std::vector<double> exposures_;
  std::vector<double> dispersions_;
};

// Calls visit(position, exposure) for each channel with a count, in order: its position among
// those, and its exposure.
template <class Visit>
void for_each_count(const Observation& y, const Visit& visit) {
  std::size_t at = 0;
  const std::span<const Index> channels = y.channels();
  for (std::size_t j = 0; j < channels.size(); ++j) {
    while (at < y.exposed().size() && y.exposed()[at] < channels[j]) ++at;
    const bool is_exposed = at < y.exposed().size() && y.exposed()[at] == channels[j];
    visit(j, is_exposed ? y.exposures()[at] : 1.0);
  }
}

// Calls visit(channel, count, exposure) for each channel that was seen, in order.
template <class Visit>
void for_each_seen(const Observation& y, const Visit& visit) {
  std::size_t count_at = 0;
  std::size_t exposure_at = 0;
  for (Index m = 0; m < y.num_channels(); ++m) {
    double count = 0;
    double exposure = 1;
    if (count_at < y.channels().size() && y.channels()[count_at] == m) {
      count = y.counts()[count_at++];
    }
    if (exposure_at < y.exposed().size() && y.exposed()[exposure_at] == m) {
      exposure = y.exposures()[exposure_at++];
    }
    if (exposure > 0) visit(m, count, exposure);
  }
}

class Record;

// Observations of a record that follow each other. A view: the record must outlive it.
class HEADWATER_EXPORT RecordView {
 public:
  RecordView(const Record& record);
  RecordView(const Record& record, Index size);

  Index size() const { return size_; }
  Index num_channels() const;
  const Observation& operator[](Index t) const;
  RecordView first(Index size) const { return part(0, size); }
  RecordView part(Index first, Index size) const;
  // Where its sequences begin: at the first observation, and at all that begin one.
  std::vector<Index> sequences() const;

  // M x T counts divided by their exposures, NaN where a cell is missing: for methods that cannot
  // use exposures.
  Matrix rates() const;

 private:
  const Record* record_;
  Index first_ = 0;
  Index size_;
};

// A sequence of observations, all in memory.
class HEADWATER_EXPORT Record {
 public:
  Record() = default;
  // One column an observation, NaN where a cell is missing. exposures: M x T, or 0 x 0 if all
  // are 1.
  explicit Record(const Eigen::Ref<const Matrix>& counts,
                  const Eigen::Ref<const Matrix>& exposures = Matrix());

  void add(const Observation& y) { observations_.push_back(y); }
  void clear() { observations_.clear(); }
  void drop_first(Index count) {
    observations_.erase(observations_.begin(), observations_.begin() + count);
  }
  bool empty() const { return observations_.empty(); }

  Index size() const { return static_cast<Index>(observations_.size()); }
  Index num_channels() const { return empty() ? 0 : observations_.front().num_channels(); }
  const Observation& operator[](Index t) const {
    return observations_[static_cast<std::size_t>(t)];
  }
  const Observation& last() const { return observations_.back(); }
  RecordView first(Index size) const { return {*this, size}; }

  void exchange(StateArchive& archive);

 private:
  std::vector<Observation> observations_;
};

}  // namespace headwater
