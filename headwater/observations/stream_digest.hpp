#pragma once

#include <cstdint>

#include "headwater/observation.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// How many observations there were, and a number that other observations would not have: enough to
// tell whether a stream is the one that was seen before. Not made against somebody who forges one.
class StreamDigest {
 public:
  void add(const Observation& y);

  std::int64_t observations() const { return observations_; }
  bool operator==(const StreamDigest&) const = default;
  void exchange(StateArchive& archive) { archive(observations_, hash_); }

 private:
  std::int64_t observations_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace headwater
