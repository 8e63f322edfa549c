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

void IterateAverage::add(std::span<const std::span<const double>> parts) {
  Index size = 0;
  for (const std::span<const double> part : parts) size += static_cast<Index>(part.size());
  ++count_;
  if (count_ == next_border_) {
    next_border_ *= 2;
    if (stretches_.size() < kStretches) {
      stretches_.emplace_back();
    } else {
      std::rotate(stretches_.begin(), stretches_.begin() + 1, stretches_.end());
    }
    stretches_.back().sum.setZero(size);
    stretches_.back().count = 0;
  }
  Vector& sum = stretches_.back().sum;
  lengthen(sum, size);
  Index at = 0;
  for (const std::span<const double> part : parts) {
    const Eigen::Map<const Vector> values(part.data(), static_cast<Index>(part.size()));
    sum.segment(at, values.size()) += values;
    at += values.size();
  }
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
