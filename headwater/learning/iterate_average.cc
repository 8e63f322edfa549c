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
  Vector mean(length());
  const std::span<double> all = as_span(mean);
  write_mean({&all, 1});
  return mean;
}

Vector IterateAverage::mean_of(Index first, Index size) const {
  std::int64_t count = 0;
  Vector sum = Vector::Zero(size);
  for (const Stretch& stretch : stretches_) {
    sum += stretch.sum.segment(first, size);
    count += stretch.count;
  }
  return sum / static_cast<double>(count);
}

// In place: the vectors may be most of the memory.
void IterateAverage::write_mean(std::span<const std::span<double>> parts) const {
  std::int64_t count = 0;
  for (const Stretch& stretch : stretches_) count += stretch.count;
  Index at = 0;
  for (const std::span<double> part : parts) {
    Eigen::Map<Vector> mean(part.data(), static_cast<Index>(part.size()));
    if (at + mean.size() > length()) return;
    for (const Stretch& stretch : stretches_) {
      const Index size = std::clamp<Index>(stretch.sum.size() - at, 0, mean.size());
      if (&stretch == &stretches_.front()) {
        mean.head(size) = stretch.sum.segment(at, size);
        mean.tail(mean.size() - size).setZero();
      } else {
        mean.head(size) += stretch.sum.segment(at, size);
      }
    }
    mean /= static_cast<double>(count);
    at += mean.size();
  }
}

}  // namespace headwater
