#include "fit_checkpoints.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"
#include "options.hpp"

using namespace headwater;

OptionTable<CheckpointOptions> CheckpointOptions::table() {
  using namespace headwater::rows;
  return in_group<CheckpointOptions>(
      "Checkpoints",
      {text({.name = "checkpoint",
             .value_name = "FILE",
             .help = "write the state of the fit to this file: regularly, at the end, and when "
                     "SIGINT or SIGTERM arrives"},
            &CheckpointOptions::file, kFileName),
       whole_number({.name = "checkpoint-every", .help = "observations between two checkpoints"},
                    &CheckpointOptions::every, 1, kMostObservations),
       text({.name = "resume",
             .value_name = "FILE",
             .help = "continue the fit of this checkpoint, with the same options and data; the "
                     "observations of DATA that it has seen are skipped"},
            &CheckpointOptions::resume, kFileName),
       whole_number({.name = "skip",
                     .help = "skip this many observations of DATA; with --resume, 0 says that a "
                             "pipe continues where it was cut off"},
                    &CheckpointOptions::skip, 0, kMostObservations)});
}

FitCheckpoints::FitCheckpoints(const CheckpointOptions& options, Restarts& restarts)
    : options_(options), restarts_(restarts) {
  if (options_.resume.empty()) return;
  resumed_ = read_checkpoint(options_.resume);
  take_up(resumed_, options_.resume, restarts_);
  resumed_.state.clear();
}

LineFile FitCheckpoints::open_lines(const std::string& name) const {
  for (const auto& [file, length] : resumed_.lengths) {
    if (file == name) return LineFile(name, length);
  }
  return LineFile(name);
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

void FitCheckpoints::saw(const Observation& y, const std::vector<const LineFile*>& lines) {
  if (options_.file.empty()) return;
  seen_.add(y);
  if (seen_.observations() % options_.every == 0) put_away(lines);
}

void FitCheckpoints::put_away(const std::vector<const LineFile*>& lines) {
  if (options_.file.empty()) return;
  Checkpoint checkpoint{fit_options(restarts_), seen_, {}, headwater::put_away(restarts_)};
  for (const LineFile* file : lines) checkpoint.lengths.emplace_back(file->name(), file->length());
  write_checkpoint(checkpoint, options_.file);
}
