#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/learning/online_em.hpp"

namespace headwater {

// One moment of a fit.
struct TraceRow {
  std::int64_t t = 0;         // observations so far, or iterations of batch EM
  double log_likelihood = 0;  // summed so far, or of the whole record
  Vector reported;            // see trace_values()
  Vector last;                // the same of the last iterate

  void exchange(StateArchive& archive) { archive(t, log_likelihood, reported, last); }
};

// How the estimates went. Asked for no particular interval, it keeps rows at even distances and is
// bounded however long the stream: when it is full (most_rows, or fewer for a large basis), every
// second row is dropped.
class Trace {
 public:
  explicit Trace(std::int64_t every = 0, Index most_rows = 256)
      : every_(every == 0 ? 1 : every), thins_(every == 0), most_rows_(most_rows) {}

  bool is_due(std::int64_t t) const { return t % every_ == 0; }
  void add(TraceRow row);
  void add_last(TraceRow row);  // the end of the fit, whether or not it is due
  // The rows of a fit that is continued, and how far apart they are.
  void take_up(std::vector<TraceRow> rows, std::int64_t every);
  std::int64_t every() const { return every_; }
  const std::vector<TraceRow>& rows() const { return rows_; }
  void exchange(StateArchive& archive);
  // Whether each of its rows has so many numbers.
  bool has_length(Index length) const;

 private:
  std::int64_t every_;
  bool thins_;
  Index most_rows_;
  std::vector<TraceRow> rows_;
};

// With more entries a basis is not in the trace: rows of it would soon be most of the memory.
constexpr Index kLargestTracedBasis = Index{1} << 20;

// Prior parameters, then the basis channel by channel: what a trace row holds of an estimate.
Vector trace_values(const Estimate& estimate);
Vector trace_values(const AnyPrior& prior);  // of an estimate with so large a basis
bool is_traced(const Matrix& basis);
// Their names: stay_off, stay_on, basis_1_1, basis_1_2, ...
std::vector<std::string> trace_names(const Estimate& estimate, bool background);

}  // namespace headwater
