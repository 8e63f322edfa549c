#include "headwater/learning/iterate_average.hpp"

#include <algorithm>

namespace headwater {

void IterateAverage::add(const Vector& estimate) {
  ++count_;
  if (count_ == next_border_) {
    next_border_ *= 2;
    if (stretches_.size() < kStretches) {
      stretches_.emplace_back();
    } else {
      std::rotate(stretches_.begin(), stretches_.begin() + 1, stretches_.end());
    }
    stretches_.back().sum.setZero(estimate.size());
    stretches_.back().count = 0;
  }
  stretches_.back().sum += estimate;
  ++stretches_.back().count;
}

Vector IterateAverage::mean() const {
  Vector sum = stretches_.front().sum;
  std::int64_t count = stretches_.front().count;
  for (std::size_t i = 1; i < stretches_.size(); ++i) {
    sum += stretches_[i].sum;
    count += stretches_[i].count;
  }
  return sum / static_cast<double>(count);
}

}  // namespace headwater
