#include "fit_checkpoints.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "headwater/error.hpp"
#include "live_outputs.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "stop_signals.hpp"
#include "words.hpp"

using namespace headwater;

namespace {

// If an observation takes longer, the state before it is kept at hand: a stop during the next one
// would come too late for an orderly end.
constexpr std::chrono::milliseconds kSlow{100};
// If the state is not at hand, the observation before took less than kSlow. On a busy machine this
// one may take longer, but it ends.
constexpr std::chrono::seconds kPatience{5};
// If writing the state at hand took longer, the orderly end is not waited for: it would write as
// much again, and a stop is to be obeyed within a second.
constexpr std::chrono::milliseconds kLongToWrite{100};

}  // namespace

OptionTable<CheckpointOptions> CheckpointOptions::table() {
  using namespace headwater::rows;
  return in_group<CheckpointOptions>(
      "Checkpoints",
      {text({.name = "checkpoint",
             .value_name = "FILE",
             .help = "write the state of the fit to this file regularly, and whenever the fit ends "
                     "other than by a crash or SIGKILL"},
            &CheckpointOptions::file, kFileName),
       whole_number({.name = "checkpoint-every", .help = "observations between two checkpoints"},
                    &CheckpointOptions::every, 1, kMostObservations),
       text({.name = "resume",
             .value_name = "FILE",
             .help = "continue the fit of this checkpoint, with the same options and data; "
                     "observations of DATA that it has seen are skipped"},
            &CheckpointOptions::resume, kFileName),
       whole_number({.name = "skip",
                     .help = "skip this many observations of DATA; with --resume, 0 means that a "
                             "pipe continues where it was cut off"},
                    &CheckpointOptions::skip, 0, kMostObservations)});
}

FitCheckpoints::FitCheckpoints(CheckpointOptions options, Restarts& restarts)
    : options_(std::move(options)), restarts_(restarts) {
  if (is_asked_for()) lock_.emplace(options_.file);
  if (!options_.resume.empty()) {
    resumed_ = read_checkpoint(options_.resume);
    take_up(resumed_, options_.resume, restarts_);
    resumed_.state.clear();
  }
  num_given_ = resumed_.seen.observations();
  // A search for a start, and what follows at once, may take long.
  if (is_asked_for() && restarts_.size() == 1) {
    restarts_.session(0).on_start([this] { get_ready(false); });
  }
}

PipeBefore FitCheckpoints::pipe_before() const {
  if (options_.resume.empty() || options_.skip != 0) return {};
  return {resumed_.seen.observations() > 0, resumed_.unread, resumed_.memory};
}

void FitCheckpoints::skip(DataStream& data) {
  const std::int64_t seen_before = resumed_.seen.observations();
  const std::int64_t count = options_.skip.value_or(seen_before);
  StreamDigest passed;
  while (passed.observations() < count) {
    if (!data.next()) {
      throw InputError(
          fmt::format("{}: ends after {} observations; expected {} to skip before resuming",
                      data.name(), passed.observations(), count));
    }
    passed.add(data.observation());
  }
  if (count == seen_before && passed != resumed_.seen) {
    throw InputError(
        fmt::format("{}: belongs to other data: the first {} observations of {} are "
                    "not those that it has seen",
                    options_.resume, count, data.name()));
  }
  seen_ = resumed_.seen;
}

void FitCheckpoints::watch(const DataStream& data, const LiveOutputs& outputs) {
  const std::lock_guard lock(mutex_);
  data_ = &data;
  outputs_ = &outputs;
}

void FitCheckpoints::update() {
  const bool is_settled = restarts_.session(0).is_settled();
  const bool may_take_long = is_slow_ || (restarts_.size() > 1 && !is_settled);
  if (is_asked_for() && may_take_long && restarts_.is_due()) get_ready(true);
  if (data_->num_replaced() != num_replaced_) {  // to resume, the new file will be read
    num_replaced_ = data_->num_replaced();
    seen_ = {};
  }
  seen_.add(data_->observation());
  ++num_given_;
  const auto begin = std::chrono::steady_clock::now();
  restarts_.update(data_->observation());
  is_slow_ = std::chrono::steady_clock::now() - begin > kSlow;
  if (!is_asked_for()) return;
  const std::lock_guard lock(mutex_);
  ready_.reset();  // it is behind now
  if (seen_.observations() % options_.every == 0) write(now("", false));
}

Checkpoint FitCheckpoints::now(const std::string& unread, bool with_last_row) {
  return {.options = fit_options(restarts_),
          .seen = seen_,
          .files = outputs_->files(),
          .state = headwater::put_away(restarts_),
          .sent = outputs_->sent(),
          .unread = unread,
          .memory = data_->memory(with_last_row),
          .calibration = outputs_->calibration()};
}

void FitCheckpoints::get_ready(bool with_last_row) {
  Checkpoint checkpoint = now(data_->unread(with_last_row), with_last_row);
  const std::lock_guard lock(mutex_);
  ready_ = std::move(checkpoint);
  is_ready_written_ = false;
  readied_.notify_all();
}

void FitCheckpoints::write(const Checkpoint& checkpoint) {
  write_checkpoint(checkpoint, options_.file);
  written_ = checkpoint.seen.observations();
  ++num_written_;
}

void FitCheckpoints::put_away() {
  if (!is_asked_for()) return;
  get_ready(false);
  const std::lock_guard lock(mutex_);
  write(*ready_);
  is_ready_written_ = true;
}

void FitCheckpoints::add_sent() {
  const std::lock_guard lock(mutex_);
  if (!is_asked_for() || outputs_->sent() == ready_->sent) return;
  ready_->sent = outputs_->sent();
  write(*ready_);
}

std::string FitCheckpoints::put_away_after_error(bool is_bad_row) {
  if (!is_asked_for()) return "";
  try {
    // In the middle of an observation the fit refuses to be put away.
    get_ready(is_bad_row);
  } catch (const std::exception&) {
  }
  const std::lock_guard lock(mutex_);
  const bool is_worth_it = ready_ && (ready_->seen.observations() > 0 || !ready_->unread.empty());
  try {
    if (is_worth_it) write(*ready_);
  } catch (const std::exception&) {  // the disk may be what the error was about
  }
  return how_to_go_on();
}

std::string FitCheckpoints::how_to_go_on() const {
  if (!written_) return "";
  return fmt::format("; the same command with --resume {} goes on after {} observations",
                     options_.file, with_commas(*written_));
}

void FitCheckpoints::write_what_is_ready() {
  const std::lock_guard lock(mutex_);
  const auto begin = std::chrono::steady_clock::now();
  write_ready();
  const bool took_long = std::chrono::steady_clock::now() - begin > kLongToWrite;
  if (is_ready_written_ && took_long) say_and_exit();
}

void FitCheckpoints::write_ready() {
  if (!ready_ || data_ == nullptr) return;
  const std::int64_t sent = std::max(ready_->sent, outputs_->sent());
  if (is_ready_written_ && sent == ready_->sent) return;
  ready_->sent = sent;
  try {
    write(*ready_);
    is_ready_written_ = true;
  } catch (const std::exception&) {  // the last words say what the file has
  }
}

void FitCheckpoints::end_program() {
  std::unique_lock lock(mutex_);  // waits for a checkpoint that is being written
  if (is_asked_for() && data_ != nullptr) {
    readied_.wait_for(lock, kPatience, [this] { return ready_.has_value(); });
  }
  write_ready();
  say_and_exit();
}

void FitCheckpoints::say_and_exit() {
  say("headwater: stopped by {} in the middle of {}, before there was a model{}\n",
      stop_signal_name(), data_ == nullptr ? "opening its files" : "its work", how_to_go_on());
  if (lock_) lock_->release();
  _exit(EXIT_FAILURE);
}
