#pragma once

#include <cstdint>

#include "headwater/emission.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// Keeps glitches, such as a counter that overflowed, out of the statistics: a single one of 10^9 in
// a channel of tens would otherwise be most of what the basis is learned from.
//
// An observation is an outlier if one of its counts is far above all that its channel had before
// (all channels, if it had nothing before; the other counts of the observation, if there was none
// before), and so improbable under the law of the counts, at activations ten times as large as they
// are, that no such count is expected once in 10^12 streams of this length. A level that has really
// changed gets through: from the fifth outlier on that follow each other closely, no more are
// refused, and their counts are what the channel had before.
class OutlierGuard {
 public:
  // Whether a count is far above all that its channel had before. Only then is it worth while to
  // ask the law. Otherwise the counts are noted.
  bool suspects(const Observation& y);
  // Whether observation t, counted from 1, is an outlier. activations: of usual size, one for each
  // column of the basis.
  bool refuses(const Observation& y, const Emission& emission, const Vector& activations,
               std::int64_t t);

  // For a sequence of its own, which follows on no other: what was refused elsewhere is far away.
  void begin_sequence() { refused_in_a_row_ = last_refused_ = 0; }
  // Notes what another guard has noted, which began with the same counts.
  void merge(const OutlierGuard& other);

  void exchange(StateArchive& archive) { archive(largest_, refused_in_a_row_, last_refused_); }
  Index num_channels() const { return largest_.size(); }  // 0 before the first observation

 private:
  // What a channel without a count so far is compared with.
  double largest_of_all(const Observation& y) const;
  bool is_beyond_reason(Index channel, double count, double exposure, const Emission& emission,
                        const Vector& activations, std::int64_t t);

  Vector largest_;  // count of each channel so far, over its exposure
  std::int64_t refused_in_a_row_ = 0;
  std::int64_t last_refused_ = 0;
  Observation single_;
  Evidence evidence_;
};

// For a search, which knows no basis yet: the same observations, those missing that have a count
// far above all others of its channel in the record.
Record without_lone_giants(const RecordView& observations);

}  // namespace headwater
