#include "headwater/session/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/parallel/ranks.hpp"

namespace headwater {

namespace {

constexpr Index kFewestRows = 32;
constexpr std::int64_t kLongestInterval = std::int64_t{1} << 60;  // it can still be doubled
constexpr Index kMostNumbers = Index{1} << 20;
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

bool is_traced(const Matrix& basis) {
  return num_channels_of(basis.rows()) * basis.cols() <= kLargestTracedBasis;
}

Vector trace_values(const Estimate& estimate) {
  Vector parameters = trace_values(estimate.prior);
  if (!is_traced(estimate.basis)) return parameters;
  Vector values(parameters.size() + estimate.basis.size());
  values << parameters, estimate.basis.reshaped<Eigen::RowMajor>();
  return values;
}

Vector trace_values(const AnyPrior& prior) {
  const Parameters parameters = prior.parameters();
  Index size = 0;
  for (const Parameter& parameter : parameters) size += parameter.value.size();
  Vector values(size);
  Index at = 0;
  for (const Parameter& parameter : parameters) {
    values.segment(at, parameter.value.size()) = parameter.value.reshaped<Eigen::RowMajor>();
    at += parameter.value.size();
  }
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
  if (!is_traced(estimate.basis)) return names;
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
