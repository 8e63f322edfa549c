#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/model.hpp"
#include "headwater/session/checkpoint.hpp"
#include "headwater/source.hpp"

namespace {

using namespace headwater;

// This many rows are enough to exercise every part of a reader.
constexpr int kMostRows = 1000;

// Writes a file with these bytes and this extension. Every process has its own file.
std::string file_of(const std::string& bytes, const std::string& extension) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string name = folder / ("headwater-fuzz-" + std::to_string(getpid()) + extension);
  std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  return name;
}

void read_rows(const std::string& name) {
  // HDF5 is read as in the command, by a separate process.
  const auto source = open_source(name, {.hdf5_reader = {HEADWATER_COMMAND, "read-hdf5", "--"}});
  std::vector<double> y;
  for (int rows = 0; rows < kMostRows; ++rows) {
    try {
      if (!source->next(y)) return;
    } catch (const BadRow&) {
      if (!source->can_go_on_after_error()) throw;
    }
  }
}

Target reader(const std::string& extension, const std::string& inside = "") {
  return [=](const std::string& bytes) { read_rows(file_of(bytes, extension) + inside); };
}

void use_model(const std::string& bytes) {
  const Model model = read_model(file_of(bytes, ".h5"));
  if (model.num_channels() > 100) return;
  ModelFilter filter(model.reported, model.background, {.num_particles = 10});
  filter.step(std::vector<double>(static_cast<std::size_t>(model.num_channels()), 1.0));
}

// The configuration of the fit whose checkpoints are in the corpus.
Config fit_of_corpus() {
  Config config;
  config.num_components = 2;
  config.init = Init::kRandom;
  config.burn_in = 20;
  return config;
}

void use_checkpoint(const std::string& bytes) {
  const std::string name = file_of(bytes, ".checkpoint");
  Restarts restarts(fit_of_corpus(), 1);
  take_up(read_checkpoint(name), name, restarts);
  restarts.update(std::vector<double>(3, 1.0));
  restarts.finish();
}

// Adds a correct checksum, which a fuzzer would not find, so that the state itself is tested.
void use_state(const std::string& bytes) {
  Restarts restarts(fit_of_corpus(), 1);
  take_up({fit_options(restarts), {}, {}, bytes}, "state", restarts);
}

}  // namespace

const std::map<std::string, Target>& targets() {
  static const std::map<std::string, Target> all = {
      {"csv", reader(".csv")}, {"csv_gz", reader(".csv.gz")},  {"jsonl", reader(".jsonl")},
      {"mtx", reader(".mtx")}, {"npy", reader(".npy")},        {"hdf5", reader(".h5", ":/counts")},
      {"model", use_model},    {"checkpoint", use_checkpoint}, {"state", use_state},
  };
  return all;
}
