#include "headwater/learning/iterate_average.hpp"

#include <algorithm>

#include "headwater/core/state_checks.hpp"

namespace headwater {

namespace {

Index size_of(std::span<const std::span<const double>> parts) {
  Index size = 0;
  for (const std::span<const double> part : parts) size += static_cast<Index>(part.size());
  return size;
}

// sum += weight * the vector.
void add_to(Vector& sum, double weight, std::span<const std::span<const double>> parts) {
  Index at = 0;
  for (const std::span<const double> part : parts) {
    const Eigen::Map<const Vector> values(part.data(), static_cast<Index>(part.size()));
    sum.segment(at, values.size()) += weight * values;
    at += values.size();
  }
}

void lengthen(Vector& values, Index size) {
  const Index before = values.size();
  if (before >= size) return;
  values.conservativeResize(size);
  values.tail(size - before).setZero();
}

}  // namespace

void IterateAverage::add(std::span<const std::span<const double>> parts,
                         std::int64_t observations) {
  const Index size = size_of(parts);
  const std::int64_t weight = empty() ? 1 : std::max<std::int64_t>(observations - last_, 1);
  last_ = observations;
  count_ += weight;
  if (count_ >= next_border_) {
    while (next_border_ <= count_) next_border_ *= 2;
    if (stretches_.size() < kStretches) {
      stretches_.emplace_back();
    } else {
      std::rotate(stretches_.begin(), stretches_.begin() + 1, stretches_.end());
    }
    stretches_.back().sum.setZero(size);
    stretches_.back().count = 0;
  }
  lengthen(stretches_.back().sum, size);
  add_to(stretches_.back().sum, static_cast<double>(weight), parts);
  stretches_.back().count += weight;
}

void IterateAverage::set_all(std::span<const std::span<const double>> parts) {
  for (Stretch& stretch : stretches_) {
    stretch.sum.setZero(size_of(parts));
    add_to(stretch.sum, static_cast<double>(stretch.count), parts);
  }
}

bool IterateAverage::has_lengths(Index shortest, Index longest) const {
  if (stretches_.size() > kStretches || stretches_.empty() != (count_ == 0)) return false;
  if (!is_count(count_) || !is_count(last_) || !is_count(next_border_) || next_border_ <= count_)
    return false;
  Index before = shortest;
  for (const Stretch& stretch : stretches_) {
    const Index length = stretch.sum.size();
    const bool is_one_of_both = length == shortest || length == longest;
    if (!is_one_of_both || length < before || !stretch.sum.allFinite()) return false;
    if (stretch.count < 1 || stretch.count > count_) return false;
    before = length;
  }
  return true;
}

double IterateAverage::part() const {
  double count = 0;
  for (const Stretch& stretch : stretches_) count += static_cast<double>(stretch.count);
  return count / static_cast<double>(count_);
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
