#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data_options.hpp"
#include "headwater/observation.hpp"

// The observations that a command reads, with their exposures, if any. Depending on --on-bad-row,
// invalid rows are skipped.
class DataStream {
 public:
  // should_stop: called while there is nothing to read; if it returns true, the data end there.
  explicit DataStream(DataOptions options, std::function<bool()> should_stop = {},
                      const PipeBefore& before = {});

  const std::string& name() const { return options_.name; }
  headwater::Index num_channels() const { return source_->num_channels(); }
  std::optional<double> fraction_read() const { return source_->fraction_read(); }

  // Reads the next observation; false at the end. Throws an InputError that says where the error
  // is.
  bool next();
  // Until the next call of next().
  const headwater::Observation& observation() const { return observation_; }

  // One exposure a channel, if there are any.
  std::span<const double> exposures() const { return exposures_; }

  // The callback receives the error message of each skipped row.
  void on_bad_row(std::function<void(const std::string&)> callback) {
    on_bad_row_ = std::move(callback);
  }
  std::int64_t num_bad_rows() const { return num_bad_rows_; }

  // See ObservationSource. The last row is the last one that was read, be it good or bad.
  std::string unread(bool with_last_row) const { return source_->unread(with_last_row); }
  std::int64_t num_replaced() const { return source_->num_replaced(); }

 private:
  bool read_counts();
  bool read_exposures();

  DataOptions options_;
  std::function<bool()> should_stop_;
  std::unique_ptr<headwater::ObservationSource> source_;
  std::unique_ptr<headwater::ObservationSource> exposure_source_;
  std::function<void(const std::string&)> on_bad_row_;
  headwater::Observation observation_;
  std::vector<double> exposures_;
  std::int64_t num_rows_ = 0;
  std::int64_t num_bad_rows_ = 0;
};
