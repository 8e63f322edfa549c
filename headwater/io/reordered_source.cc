#include "headwater/io/reordered_source.hpp"

#include <cassert>
#include <utility>

namespace headwater {

ReorderedSource::ReorderedSource(std::unique_ptr<ObservationSource> rows, std::vector<Index> order)
    : rows_(std::move(rows)), order_(std::move(order)) {
  assert(static_cast<Index>(order_.size()) == rows_->num_channels());
}

std::vector<std::string> ReorderedSource::channel_names() const {
  const std::vector<std::string> given = rows_->channel_names();
  std::vector<std::string> names;
  if (given.empty()) return names;
  for (const Index column : order_) names.push_back(given[column]);
  return names;
}

void ReorderedSource::reorder(std::vector<double>& values) const {
  values.resize(order_.size());
  for (std::size_t m = 0; m < order_.size(); ++m) values[m] = given_[order_[m]];
}

bool ReorderedSource::next(std::vector<double>& values) {
  if (!rows_->next(given_)) return false;
  reorder(values);
  return true;
}

// What else an observation knows stays as it is.
bool ReorderedSource::next(Observation& y) {
  if (!rows_->next(y)) return false;
  const bool begins_sequence = y.begins_sequence();
  const double time = y.time();
  given_.resize(order_.size());
  y.write_counts(given_);
  reorder(reordered_);
  y.assign(reordered_);
  y.set_begins_sequence(begins_sequence);
  y.set_time(time);
  return true;
}

}  // namespace headwater
