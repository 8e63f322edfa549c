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

// Saves checkpoints of a running fit, and restores a fit from a checkpoint.
class FitCheckpoints {
 public:
  // Restores the state of the fit that --resume names, if any.
  FitCheckpoints(const CheckpointOptions& options, headwater::Restarts& restarts);

  // Opens a file that grows with the stream. On resuming, the file is truncated to its length at
  // the time of the checkpoint.
  LineFile open_lines(const std::string& name) const;

  // Skips the observations that the checkpoint has already seen, or as many as --skip says. Throws
  // InputError if they are not those that the checkpoint has seen.
  void skip(DataStream& data);

  // The fit has been given this observation; puts it away if that is due.
  void saw(const headwater::Observation& y, const std::vector<const LineFile*>& lines);
  void put_away(const std::vector<const LineFile*>& lines);

 private:
  CheckpointOptions options_;
  headwater::Restarts& restarts_;
  headwater::Checkpoint resumed_;
  headwater::StreamDigest seen_;
};
