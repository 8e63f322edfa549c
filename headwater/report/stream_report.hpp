#pragma once

#include <cstdint>
#include <memory>

#include "headwater/inference.hpp"
#include "headwater/report/report_data.hpp"
#include "headwater/report/row_surprises.hpp"

namespace headwater {

struct StreamReportOptions {
  EngineConfig engine;
  std::uint64_t seed = kDefaultSeed;
  std::int64_t phase = 0;  // of the first observation, in the model's season
  Index horizon = 0;       // of the forecast; 0: a period, or 24
  bool last = false;       // the last iterate instead of the reported estimate
};

// Filters a stream with a model, one observation at a time, and gathers what a report shows of it.
// Memory does not grow with the length of the stream.
class StreamReporter {
 public:
  StreamReporter(const Model& model, const StreamReportOptions& options);

  // The stream will have about so many rows, if anybody knows: saves time.
  void expect_rows(double rows) { surprises_.expect_rows(rows); }
  void add(const Observation& y);
  std::int64_t observations() const { return report_.observations; }
  // After the last observation; once.
  StreamReport finish();

 private:
  void add_health(const FilterStep& step, double time);
  void add_shares();
  void add_predictions(double time);
  void add_to_recent(double time);
  void finish_predictions();
  void finish_recent();
  void finish_forecast();

  StreamReportOptions options_;
  Index num_channels_;
  Index num_components_;
  std::vector<Index> periods_;
  ModelFilter filter_;
  RowSurprises surprises_;
  StreamReport report_;

  std::vector<double> seen_;  // of the last row, NaN where a cell is missing
  std::vector<double> exposures_;
  Vector expected_;
  // Sums by channel.
  Vector counts_;
  Vector exposed_;
  Vector seen_cells_;
  Vector squared_errors_;
  Vector squared_errors_of_mean_;
  Index most_recent_;  // rows of the ring
  std::int64_t resampled_ = 0;
};

}  // namespace headwater
