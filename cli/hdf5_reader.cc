#include "hdf5_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "headwater/io/hdf5/hdf5_child.hpp"
#include "headwater/source.hpp"

using namespace headwater;

namespace {

constexpr const char* kCommand = "read-hdf5";

}  // namespace

bool is_hdf5_reader(const std::string& command) { return command == kCommand; }

std::vector<std::string> hdf5_reader() { return {"/proc/self/exe", kCommand, "--"}; }

RowMatrix read_matrix_file(const std::string& name) {
  return read_matrix(name, {.hdf5_reader = hdf5_reader()});
}

Model read_model_file(const std::string& name) { return read_model(name, hdf5_reader()); }

void add_hdf5_reader(CLI::App& app, Run& run) {
  auto request = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(kCommand, "reads HDF5 for this program itself");
  command->group("");  // hidden in the list of commands
  command->add_option("REQUEST", *request)->required();
  command->callback([request, &run] {
    run = [request] {
      const FileDescriptor output = duplicate(STDOUT_FILENO, "standard output");
      // An HDF5 filter that prints something must not print into the data.
      dup2(FileDescriptor(open("/dev/null", O_WRONLY | O_CLOEXEC)).number(), STDOUT_FILENO);
      answer_hdf5_request(*request, output);
    };
  });
}
