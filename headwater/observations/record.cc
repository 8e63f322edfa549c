#include "headwater/observation.hpp"

#include <algorithm>
#include <cassert>

#include "headwater/error.hpp"

namespace headwater {

RecordView::RecordView(const Record& record) : RecordView(record, record.size()) {}

RecordView::RecordView(const Record& record, Index size) : record_(&record), size_(size) {
  assert(size <= record.size());
}

Index RecordView::num_channels() const { return record_->num_channels(); }

const Observation& RecordView::operator[](Index t) const { return (*record_)[first_ + t]; }

RecordView RecordView::part(Index first, Index size) const {
  assert(first >= 0 && first + size <= size_);
  RecordView part = *this;
  part.first_ += first;
  part.size_ = size;
  return part;
}

std::vector<Index> RecordView::sequences() const {
  std::vector<Index> begins;
  for (Index t = 0; t < size_; ++t) {
    if (t == 0 || (*this)[t].begins_sequence()) begins.push_back(t);
  }
  return begins;
}

Matrix RecordView::rates() const {
  Matrix rates(num_channels(), size_);
  for (Index t = 0; t < size_; ++t) {
    const Observation& y = (*this)[t];
    y.write_counts(as_span(rates.col(t)));
    for_each_count(y, [&](std::size_t j, double exposure) {
      if (exposure != 1) rates(y.channels()[j], t) /= exposure;
    });
  }
  return rates;
}

Record::Record(const Eigen::Ref<const Matrix>& counts, const Eigen::Ref<const Matrix>& exposures) {
  for (Index t = 0; t < counts.cols(); ++t) {
    observations_.emplace_back();
    observations_.back().assign(
        as_span(counts.col(t)),
        exposures.size() > 0 ? as_span(exposures.col(t)) : std::span<const double>(), t + 1);
  }
}

void Record::exchange(StateArchive& archive) {
  archive(observations_);
  const auto has_other_channels = [&](const Observation& y) {
    return y.num_channels() != num_channels();
  };
  if (std::ranges::any_of(observations_, has_other_channels)) {
    throw InputError("the saved state has observations of different lengths");
  }
}

}  // namespace headwater
