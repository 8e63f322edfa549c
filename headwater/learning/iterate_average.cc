#include "headwater/learning/iterate_average.hpp"

#include <algorithm>

namespace headwater {

namespace {

void lengthen(Vector& values, Index size) {
  const Index before = values.size();
  if (before >= size) return;
  values.conservativeResize(size);
  values.tail(size - before).setZero();
}

}  // namespace

void IterateAverage::add(const Vector& value) {
  ++count_;
  if (count_ == next_border_) {
    next_border_ *= 2;
    if (stretches_.size() < kStretches) {
      stretches_.emplace_back();
    } else {
      std::rotate(stretches_.begin(), stretches_.begin() + 1, stretches_.end());
    }
    stretches_.back().sum.setZero(value.size());
    stretches_.back().count = 0;
  }
  lengthen(stretches_.back().sum, value.size());
  stretches_.back().sum += value;
  ++stretches_.back().count;
}

Vector IterateAverage::mean() const {
  Vector sum = stretches_.front().sum;
  lengthen(sum, stretches_.back().sum.size());
  std::int64_t count = stretches_.front().count;
  for (std::size_t i = 1; i < stretches_.size(); ++i) {
    sum.head(stretches_[i].sum.size()) += stretches_[i].sum;
    count += stretches_[i].count;
  }
  return sum / static_cast<double>(count);
}

}  // namespace headwater
