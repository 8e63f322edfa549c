#include "headwater/session/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/parallel/ranks.hpp"

namespace headwater {

namespace {

constexpr Index kFewestRows = 32;
constexpr std::int64_t kLongestInterval = std::int64_t{1} << 60;  // it can still be doubled
constexpr Index kMostNumbers = Index{1} << 20;
// The entries of the basis that are in the trace: all or none.
Index traced_entries(const Matrix& basis) {
  return num_channels_of(basis.rows()) * basis.cols() <= kLargestTracedBasis ? basis.size() : 0;
}

Index row_limit(Index numbers_in_row, Index most_rows) {
  return std::clamp(kMostNumbers / std::max<Index>(numbers_in_row, 1), kFewestRows, most_rows);
}

}  // namespace

void Trace::add(TraceRow row) {
  const Index limit = row_limit(row.reported.size(), most_rows_);
  rows_.push_back(std::move(row));
  if (!thins_ || static_cast<Index>(rows_.size()) < limit) return;
  every_ *= 2;
  std::erase_if(rows_, [&](const TraceRow& kept) { return !is_due(kept.t); });
}

void Trace::take_up(std::vector<TraceRow> rows, std::int64_t every) {
  rows_ = std::move(rows);
  if (thins_) every_ = every;
}

void Trace::exchange(StateArchive& archive) {
  archive(every_, rows_);
  archive.expect(every_ > 0 && every_ <= kLongestInterval, "a trace without an interval");
}

bool Trace::has_length(Index length) const {
  return std::ranges::all_of(rows_, [&](const TraceRow& row) {
    return row.reported.size() == length && row.last.size() == length;
  });
}

void Trace::add_last(TraceRow row) {
  if (!rows_.empty() && rows_.back().t == row.t) rows_.pop_back();
  rows_.push_back(std::move(row));
}

Vector trace_values(const Estimate& estimate) {
  const Parameters parameters = estimate.prior.parameters();
  const Index entries = traced_entries(estimate.basis);
  Index size = entries;
  for (const Parameter& parameter : parameters) size += parameter.value.size();
  Vector values(size);
  Index at = 0;
  for (const Parameter& parameter : parameters) {
    values.segment(at, parameter.value.size()) = parameter.value.reshaped<Eigen::RowMajor>();
    at += parameter.value.size();
  }
  if (entries > 0) values.tail(entries) = estimate.basis.reshaped<Eigen::RowMajor>();
  return values;
}

std::vector<std::string> trace_names(const Estimate& estimate, bool background) {
  std::vector<std::string> names;
  for (const Parameter& parameter : estimate.prior.parameters()) {
    const Matrix& value = parameter.value;
    for (Index i = 0; i < value.rows(); ++i) {
      for (Index j = 0; j < value.cols(); ++j) {
        if (value.size() == 1) {
          names.push_back(parameter.name);
        } else if (value.cols() == 1) {
          names.push_back(fmt::format("{}_{}", parameter.name, i + 1));
        } else {
          names.push_back(fmt::format("{}_{}_{}", parameter.name, i + 1, j + 1));
        }
      }
    }
  }
  if (traced_entries(estimate.basis) == 0) return names;
  const Index num_components = estimate.basis.cols() - (background ? 1 : 0);
  names.reserve(names.size() + static_cast<std::size_t>(estimate.basis.size()));
  for (Index m = 0; m < estimate.basis.rows(); ++m) {
    const std::string of_channel = fmt::format("basis_{}_", m + 1);
    for (Index k = 0; k < num_components; ++k) {
      names.push_back(of_channel + std::to_string(k + 1));
    }
    if (background) names.push_back(fmt::format("background_{}", m + 1));
  }
  return names;
}

}  // namespace headwater
