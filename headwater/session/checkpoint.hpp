#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headwater/observations/stream_digest.hpp"
#include "headwater/session/restarts.hpp"
#include "headwater/source.hpp"
#include "headwater/surprise_calibration.hpp"

namespace headwater {

// A file that grows with the stream, such as a log, at the moment of a checkpoint.
struct GrowingFile {
  std::string name;
  std::int64_t length = 0;
  std::string unwritten = {};  // what belongs after that and could not be written

  void exchange(StateArchive& archive) { archive(name, length, unwritten); }
};

// A fit put away in the middle, with what is needed to tell that it is the right one to go on with.
// The file, documented in docs/file_formats.md, appears whole or not at all.
struct Checkpoint {
  std::vector<std::pair<std::string, std::string>> options;  // see fit_options()
  StreamDigest seen;                                         // observations that are in the state
  std::vector<GrowingFile> files;
  std::string state;  // of the fit, as its exchange() gives it
  // The observations whose lines were sent to standard output or to a pipe. They may be more than
  // those taken in: at the end of a short stream, lines follow from a start that a longer one does
  // not have.
  std::int64_t sent = 0;
  std::string unread = {};   // of the pipe that the data come from: see ObservationSource::unread()
  SourceMemory memory = {};  // ... and what its source knew
  SurpriseCalibration calibration = {};  // of the tail probabilities of --surprise
};

void write_checkpoint(const Checkpoint& checkpoint, const std::string& name);

// Throws InputError, naming the file and the reason, if it is truncated, damaged, no checkpoint at
// all, or of another version of the program: another version might not give the same bits.
Checkpoint read_checkpoint(const std::string& name);

// Every option that the state depends on, name and text.
std::vector<std::pair<std::string, std::string>> fit_options(const Restarts& restarts);

std::string put_away(Restarts& restarts);
// Throws InputError if the fit has other options than the one that was put away, or the state does
// not fit.
void take_up(const Checkpoint& checkpoint, const std::string& name, Restarts& restarts);

}  // namespace headwater
