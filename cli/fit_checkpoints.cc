#include "fit_checkpoints.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "headwater/core/error.hpp"

using namespace headwater;

void CheckpointOptions::add_to(CLI::App& command) {
  const std::string group = "Run";
  command
      .add_option("--checkpoint", file,
                  "where the state of the fit is put away, every so often, at the end, and when "
                  "SIGINT or SIGTERM comes")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--checkpoint-every", every, "observations from one to the next")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--resume", resume,
          "go on with the fit that was put away there, with the same options and data; what "
          "it has seen of DATA is passed over")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--skip", skip,
                  "pass over so many observations of DATA; with --resume 0 if a pipe goes on where "
                  "it was cut off")
      ->type_name("N")
      ->group(group);
}

void CheckpointOptions::validate() const {
  if (every < 1) {
    throw UsageError(fmt::format("checkpoint-every is {}; expected 1 or more", every));
  }
  if (skip.value_or(0) < 0) {
    throw UsageError(fmt::format("skip is {}; expected 0 or more", *skip));
  }
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
