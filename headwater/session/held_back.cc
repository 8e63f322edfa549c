#include "headwater/session/held_back.hpp"

#include "headwater/core/error.hpp"

namespace headwater {

void HeldBack::add(Observation y) {
  num_channels_ = static_cast<Index>(y.size());
  if (exposures_.empty() && !y.exposures().empty()) exposures_.assign(counts_.size(), 1);
  counts_.insert(counts_.end(), y.begin(), y.end());
  if (y.exposures().empty()) {
    if (!exposures_.empty()) exposures_.resize(counts_.size(), 1);
  } else {
    exposures_.insert(exposures_.end(), y.exposures().begin(), y.exposures().end());
  }
}

void HeldBack::exchange(StateArchive& archive) {
  archive.count(num_channels_);
  archive(counts_, exposures_);
  const bool fits =
      num_channels_ > 0 ? static_cast<Index>(counts_.size()) % num_channels_ == 0 : counts_.empty();
  if (!fits || (!exposures_.empty() && exposures_.size() != counts_.size())) {
    throw InputError("the saved state has observations of different lengths");
  }
}

Record HeldBack::record() const {
  const Index count =
      num_channels_ > 0 ? static_cast<Index>(counts_.size()) / num_channels_ : Index{0};
  const Index exposed = exposures_.empty() ? 0 : count;
  return {Eigen::Map<const Matrix>(counts_.data(), num_channels_, count),
          Eigen::Map<const Matrix>(exposures_.data(), num_channels_, exposed)};
}

}  // namespace headwater
