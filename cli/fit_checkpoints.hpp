#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "data_stream.hpp"
#include "file_lock.hpp"
#include "headwater/session/checkpoint.hpp"
#include "headwater/session/option_row.hpp"

class LiveOutputs;

// --checkpoint, --checkpoint-every, --resume, --skip
struct CheckpointOptions {
  std::string file;
  std::int64_t every = 10000;
  std::string resume;
  std::optional<std::int64_t> skip;

  bool any() const { return !file.empty() || !resume.empty(); }
  static headwater::OptionTable<CheckpointOptions> table();
};

// Saves checkpoints of a running fit, and restores a fit from a checkpoint. Between two
// observations the fit can be put away at any time; in the middle of one, what was got ready before
// it takes its place.
class FitCheckpoints {
 public:
  // Restores the state of the fit that --resume names, if any. Throws InputError if another process
  // writes to the file that --checkpoint names.
  FitCheckpoints(CheckpointOptions options, headwater::Restarts& restarts);

  // The checkpoint of --resume, without its state.
  const headwater::Checkpoint& resumed() const { return resumed_; }
  PipeBefore pipe_before() const;

  // Skips the observations that the checkpoint has already seen, or as many as --skip says. Throws
  // InputError if they are not those that the checkpoint has seen.
  void skip(DataStream& data);

  // What is put away besides the fit itself.
  void watch(const DataStream& data, const LiveOutputs& outputs);

  // Gives the fit the observation that the data are at, and puts it away if that is due.
  void update();
  // The checkpoints that were written so far, and the observations that the last one has.
  std::int64_t num_written() const { return num_written_; }
  std::int64_t written() const { return written_.value_or(0); }
  std::int64_t observations() const { return num_given_; }  // with those before --resume

  // At the end of the data.
  void put_away();
  // The end of the fit has sent more lines.
  void add_sent();

  // After an error: puts away what can be put away, and says how to go on; empty if there is no
  // way. is_bad_row: the last row that was read was not given to the fit.
  std::string put_away_after_error(bool is_bad_row);

  // Called by another thread as soon as a stop is requested: writes the state that is at hand, if
  // any, since the fit may not stop in time. Ends the program if that took long.
  void write_what_is_ready();
  // Called by that thread if the fit does not stop in time: ends the program.
  [[noreturn]] void end_program();

 private:
  bool is_asked_for() const { return !options_.file.empty(); }
  // with_last_row: the last row that was read is still to come.
  headwater::Checkpoint now(const std::string& unread, bool with_last_row);
  void get_ready(bool with_last_row);
  void write(const headwater::Checkpoint& checkpoint);
  void write_ready();
  [[noreturn]] void say_and_exit();
  std::string how_to_go_on() const;

  CheckpointOptions options_;
  headwater::Restarts& restarts_;
  std::optional<FileLock> lock_;
  headwater::Checkpoint resumed_;
  headwater::StreamDigest seen_;  // of the present file of data
  std::int64_t num_replaced_ = 0;
  std::int64_t num_given_ = 0;
  bool is_slow_ = true;  // the last update was; the first one may be

  std::mutex mutex_;                  // of what follows, for end_program()
  const DataStream* data_ = nullptr;  // set once, by watch()
  const LiveOutputs* outputs_ = nullptr;
  std::optional<headwater::Checkpoint> ready_;  // to be written if the fit does not get on
  bool is_ready_written_ = false;               // and it has been already
  std::condition_variable readied_;
  std::int64_t num_written_ = 0;
  std::optional<std::int64_t> written_;  // the number of observations in the file, if any
};
