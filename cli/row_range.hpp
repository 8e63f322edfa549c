#pragma once

#include <cstdint>
#include <string>

#include "data_stream.hpp"
#include "headwater/session/option_row.hpp"
#include "stop_signals.hpp"

// --skip and --from: which observations of DATA a model is applied to. They are counted from 1,
// those that are left out too.
struct RowOptions {
  std::int64_t skip = 0;
  std::int64_t from = 1;

  static headwater::OptionTable<RowOptions> table();
};

// Goes through these observations, to the end of the data or until a signal asks for a stop. If an
// observation takes so long that the stop cannot be heeded, the program is ended; what was written
// to a stream or a growing file stays.
class RowRange {
 public:
  // Leaves out what --skip says. Throws InputError if the data end before that.
  RowRange(const RowOptions& options, DataStream& data);

  bool next();
  // Whether results of the last observation are wanted, or it was only filtered.
  bool is_wanted() const { return number_ >= options_.from; }
  std::int64_t number() const { return number_; }                    // of the last observation
  std::int64_t filtered() const { return number_ - num_left_out_; }  // so many

  // After the last observation: says if there was a stop. Throws InputError if no results were
  // wanted at all.
  void finish(bool quiet);

 private:
  RowOptions options_;
  DataStream& data_;
  std::int64_t number_ = 0;
  std::int64_t num_left_out_ = 0;
  StopDeadline deadline_;
};
