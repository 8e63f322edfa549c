#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data_options.hpp"
#include "headwater/observations/record.hpp"

// The observations that a command was told to read, with their exposures, if there are any; bad
// rows are left out if that is wanted.
class DataStream {
 public:
  // should_stop: asked while there is nothing to read; true makes that the end.
  explicit DataStream(const DataOptions& options, std::function<bool()> should_stop = {});

  const std::string& name() const { return options_.name; }
  headwater::Index num_channels() const { return source_->num_channels(); }
  std::optional<double> fraction_read() const { return source_->fraction_read(); }

  // False at the end. Throws InputError that says where.
  bool next();
  // Until the next call of next().
  const headwater::Observation& observation() const { return observation_; }

  // One exposure a channel, if there are any.
  std::span<const double> exposures() const { return exposures_; }

  // Told of each row that is left out.
  void on_bad_row(std::function<void(const std::string&)> callback) {
    on_bad_row_ = std::move(callback);
  }
  std::int64_t num_bad_rows() const { return num_bad_rows_; }

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
