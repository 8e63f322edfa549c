#pragma once

#include <vector>

#include "headwater/observations/observation.hpp"

namespace headwater {

class Record;

// The first observations of a record. A view: the record must outlive it.
class RecordView {
 public:
  RecordView(const Record& record);
  RecordView(const Record& record, Index size);

  Index size() const { return size_; }
  Index num_channels() const;
  const Observation& operator[](Index t) const;
  RecordView first(Index size) const { return {*record_, size}; }

  // M x T counts for an exposure of 1, NaN where a cell is missing: what a method that knows of no
  // exposures can work with.
  Matrix rates() const;

 private:
  const Record* record_;
  Index size_;
};

// Observations one after another, all in memory.
class Record {
 public:
  Record() = default;
  // One column an observation, NaN where a cell is missing. exposures: M x T, or 0 x 0 if all
  // are 1.
  explicit Record(const Eigen::Ref<const Matrix>& counts,
                  const Eigen::Ref<const Matrix>& exposures = Matrix());

  void add(const Observation& y) { observations_.push_back(y); }
  void clear() { observations_.clear(); }
  bool empty() const { return observations_.empty(); }

  Index size() const { return static_cast<Index>(observations_.size()); }
  Index num_channels() const { return empty() ? 0 : observations_.front().num_channels(); }
  const Observation& operator[](Index t) const {
    return observations_[static_cast<std::size_t>(t)];
  }
  RecordView first(Index size) const { return {*this, size}; }

  void exchange(StateArchive& archive);

 private:
  std::vector<Observation> observations_;
};

}  // namespace headwater
