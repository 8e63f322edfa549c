#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data_options.hpp"
#include "headwater/io/timed_source.hpp"
#include "headwater/observation.hpp"
#include "headwater/parallel/ranks.hpp"

// The observations that a command reads, with their exposures, if any. Depending on --on-bad-row,
// invalid rows are skipped.
class DataStream {
 public:
  // should_stop: called while there is nothing to read; if it returns true, the data end there.
  explicit DataStream(DataOptions options, std::function<bool()> should_stop = {},
                      const PipeBefore& before = {});

  const std::string& name() const { return options_.name; }
  headwater::Index num_channels() const { return source_->num_channels(); }
  std::vector<std::string> channel_names() const { return source_->channel_names(); }
  std::optional<double> fraction_read() const { return source_->fraction_read(); }

  // Puts the channels, and their exposures, into the order of these names (see order_by_name());
  // without names here, the exposures into the order of the data. `model` has the names. Returns
  // the names of the files whose columns have another order. Exposures without names have the order
  // of the data. To be called before the first observation.
  std::vector<std::string> match_names(const std::vector<std::string>& names,
                                       const std::string& model);

  // Before the first observation: each rank reads the columns of its own channels alone, where the
  // file allows that.
  void share(const headwater::SharedChannels& channels);

  // Reads the next observation; false at the end. Throws an InputError that says where the error
  // is.
  bool next();
  // Until the next call of next().
  const headwater::Observation& observation() const { return observation_; }

  // One exposure a channel, if there are any.
  std::span<const double> exposures() const { return exposures_; }

  std::int64_t num_sequences() const { return num_sequences_; }  // begun so far

  // Whether rows have times: those of --time-column. Then an Observation has its time, and this is
  // how to write it; empty without times.
  bool has_times() const { return clock_ != nullptr; }
  std::string time_text(const headwater::Observation& y) const { return time_text(y.time()); }
  std::string time_text(double time) const {
    return clock_ != nullptr ? clock_->text_of(time) : "";
  }
  // The time so many rows after the last observation.
  std::string time_after(std::int64_t steps) const { return clock_->text_after(steps); }
  // See TimedSource; nothing without --time-column.
  std::optional<double> seconds_a_row() {
    return clock_ != nullptr ? clock_->seconds_a_row() : std::nullopt;
  }

  // The callback receives the error message of each skipped row.
  void on_bad_row(std::function<void(const std::string&)> callback) {
    on_bad_row_ = std::move(callback);
  }
  std::int64_t num_bad_rows() const { return num_bad_rows_; }

  // See ObservationSource. The last row is the last one that was read, be it good or bad.
  std::string unread(bool with_last_row) const { return source_->unread(with_last_row); }
  headwater::SourceMemory memory(bool with_last_row) const;
  std::int64_t num_replaced() const { return source_->num_replaced(); }

 private:
  bool read_counts();
  bool read_exposures();

  DataOptions options_;
  std::function<bool()> should_stop_;
  std::unique_ptr<headwater::ObservationSource> source_;
  headwater::TimedSource* clock_ = nullptr;  // the source, if it has times
  std::unique_ptr<headwater::ObservationSource> exposure_source_;
  std::function<void(const std::string&)> on_bad_row_;
  headwater::Observation observation_;
  std::vector<double> exposures_;
  std::int64_t num_rows_ = 0;
  std::int64_t num_bad_rows_ = 0;
  std::int64_t num_sequences_ = 0;
};
