#include "hdf5_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "commands.hpp"
#include "headwater/io/hdf5/hdf5_child.hpp"
#include "headwater/source.hpp"

using namespace headwater;

namespace {

constexpr const char* kCommand = "read-hdf5";

// This program, also where /proc is not mounted.
std::string own_path() {
  constexpr const char* kLink = "/proc/self/exe";
  if (access(kLink, X_OK) == 0) return kLink;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands over the address as a number
  return reinterpret_cast<const char*>(getauxval(AT_EXECFN));
}

// The reader is of use to the process that started it alone. It may wait on a pipe that never gets
// a writer, so it cannot be left to notice by itself that the other process is gone.
void end_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd output = {STDOUT_FILENO, 0, 0};
  const bool has_no_reader = poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
  if (has_no_reader) _exit(EXIT_FAILURE);  // the other process ended before the call above
}

}  // namespace

bool is_hdf5_reader(const std::string& command) { return command == kCommand; }

std::vector<std::string> hdf5_reader() { return {own_path(), kCommand, "--"}; }

RowMatrix read_matrix_file(const std::string& name) {
  return read_matrix(name, {.hdf5_reader = hdf5_reader()});
}

Model read_model_file(const std::string& name) { return read_model(name, hdf5_reader()); }

void add_hdf5_reader(CLI::App& app, Run& run) {
  auto request = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(kCommand, "reads HDF5 files for the other commands");
  command->group("");  // hidden in the list of commands
  command->add_option("REQUEST", *request)->required();
  command->callback([request, &run] {
    run = [request] {
      end_with_parent();
      const FileDescriptor output = duplicate(STDOUT_FILENO, "standard output");
      // An HDF5 filter that prints something must not print into the data.
      dup2(FileDescriptor(open("/dev/null", O_WRONLY | O_CLOEXEC)).number(), STDOUT_FILENO);
      answer_hdf5_request(*request, output);
    };
  });
}
