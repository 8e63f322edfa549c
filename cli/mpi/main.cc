#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "hdf5_reader.hpp"
#include "headwater/io/files/atomic_file.hpp"
#include "mpi_ranks.hpp"
#include "ranks.hpp"
#include "run_headwater.hpp"
#include "supervisor.hpp"
#include "words.hpp"

namespace {

void add_none(CLI::App&, Run&) {}

void add_ranked(CLI::App& app, Run& run) {
  add_fit(app, run);
  add_apply(app, run);
  add_score(app, run);
}

void tell(const std::string& message) { say("headwater-mpi: {}\n", message); }

// The words and files of a rank that is not the first go nowhere. Returns where they went before.
int be_silent() {
  const int words = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
  headwater::discard_files();
  return words;
}

// An error that all ranks meet is told by the first one, which has done so already.
int end_after_error(MpiRanks& ranks, int status, const std::string& message, int words) {
  if (ranks.have_all_failed()) return status;
  if (ranks.rank() > 0) {
    dup2(words, STDERR_FILENO);
    tell(fmt::format("rank {}: {}", ranks.rank(), message));
  }
  ranks.end_all(status);
}

}  // namespace

int main(int argc, char** argv) {
  // A process that reads HDF5 for a rank is no rank itself.
  if (argc > 1 && is_hdf5_reader(argv[1])) return run_headwater(argc, argv, add_none, tell);
  supervise_rank(tell);
  MpiRanks ranks(argc, argv);
  set_ranks(ranks);
  const int words = ranks.rank() > 0 ? be_silent() : STDERR_FILENO;
  std::string message;
  const int status = run_headwater(argc, argv, add_ranked, [&](const std::string& text) {
    message = text;
    tell(text);
  });
  return status == 0 ? 0 : end_after_error(ranks, status, message, words);
}
