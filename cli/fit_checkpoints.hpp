#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data_stream.hpp"
#include "headwater/session/checkpoint.hpp"
#include "headwater/session/option_row.hpp"
#include "line_file.hpp"

// --checkpoint, --checkpoint-every, --resume, --skip
struct CheckpointOptions {
  std::string file;
  std::int64_t every = 10000;
  std::string resume;
  std::optional<std::int64_t> skip;

  bool any() const { return !file.empty() || !resume.empty(); }
  static headwater::OptionTable<CheckpointOptions> table();
};

// What puts a fit away while it runs, and takes up one that was put away.
class FitCheckpoints {
 public:
  // Takes up the state of the fit to be resumed, if one is named.
  FitCheckpoints(const CheckpointOptions& options, headwater::Restarts& restarts);

  // A file that grows with the stream, cut back to where it was when the checkpoint was written.
  LineFile open_lines(const std::string& name) const;

  // Passes over what is in the state already, or what --skip says; throws InputError if those are
  // not the observations that were seen.
  void skip(DataStream& data);

  // The fit has been given this observation; puts it away if that is due.
  void saw(headwater::Observation y, const std::vector<const LineFile*>& lines);
  void put_away(const std::vector<const LineFile*>& lines);

 private:
  CheckpointOptions options_;
  headwater::Restarts& restarts_;
  headwater::Checkpoint resumed_;
  headwater::StreamDigest seen_;
};
