#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "fuzz.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/files/checksum.hpp"
#include "headwater/io/files/seal.hpp"
#include "headwater/model.hpp"
#include "headwater/session/checkpoint.hpp"
#include "headwater/source.hpp"
#include "serve/server.hpp"

namespace {

using namespace headwater;

// This many rows are enough to exercise every part of a reader.
constexpr int kMostRows = 1000;

constexpr std::size_t kSealBytes = 512;  // before the contents of a model
constexpr std::size_t kHeadBytes = 37;   // before those of a checkpoint

// See docs/file_formats.md, "Checkpoint".
std::string with_right_checksum(std::string checkpoint) {
  if (checkpoint.size() < kHeadBytes) return checkpoint;
  const std::string contents = checkpoint.substr(kHeadBytes);
  const std::uint64_t size = contents.size();
  const std::uint32_t sum = checksum(contents);
  std::memcpy(checkpoint.data() + kHeadBytes - 12, &size, sizeof size);
  std::memcpy(checkpoint.data() + kHeadBytes - 4, &sum, sizeof sum);
  return checkpoint;
}

// Writes a file with these bytes and this extension. Every process has its own file.
std::string file_of(const std::string& bytes, const std::string& extension) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string name = folder / ("headwater-fuzz-" + std::to_string(getpid()) + extension);
  std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  return name;
}

// HDF5 is read as in the command, by a separate process.
std::vector<std::string> reader_command() { return {HEADWATER_COMMAND, "read-hdf5", "--"}; }

void read_rows(const std::string& name) {
  const auto source = open_source(name, {.hdf5_reader = reader_command()});
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

// A fuzzer would not find a right checksum, so it is put in: what lies behind it is tested. The
// file is read as in the command, by a separate process.
void use_model(const std::string& bytes) {
  const std::string contents = bytes.substr(std::min<std::size_t>(bytes.size(), kSealBytes));
  const std::string name = file_of(make_seal("headwater model", contents) + contents, ".h5");
  const Model model = read_model(name, reader_command());
  if (model.num_channels() > 100) return;
  ModelFilter filter(model.reported, model.background, {.num_particles = 10});
  const std::vector<double> ones(static_cast<std::size_t>(model.num_channels()), 1.0);
  filter.step(ones);
  const Config config = config_of(model);
  if (config.engine.num_particles > 100 || config.num_components > 4) return;
  Session session(model, config);
  for (int t = 0; t < 20; ++t) session.update(ones);
  session.finish();
}

// The fits whose checkpoints are in the corpus: one for each kind of state. make_corpus.py has the
// same list.
Config fit_of_corpus(const std::string& kind) {
  Config config;
  config.num_components = 2;
  config.init = Init::kRandom;
  config.burn_in = 20;
  config.engine.num_particles = 10;
  if (kind == "beam") {
    config.engine.kind = EngineKind::kBeam;
    config.engine.beam_width = 3;
  } else if (kind == "forward") {
    config.smoother = SmootherKind::kForward;
  } else if (kind == "path") {
    config.prior.name = "relaxed-selection";
    config.smoother = SmootherKind::kPath;
  } else if (kind == "printed") {
    config.prior.name = "relaxed-selection";
    config.paper_exact = true;
  } else if (kind == "paris") {
    config.prior.name = "log-gaussian";
    config.smoother = SmootherKind::kParis;
  } else if (kind == "fast") {
    config.prior.name = "gamma";
    config.engine.kind = EngineKind::kFast;
  } else if (kind == "dispersed") {
    config.counts.law = "negative-binomial";
  }
  return config;
}

void go_on(Restarts& restarts) {
  for (int t = 0; t < 40; ++t) restarts.update(std::vector<double>{1.0, t % 3 * 1.0, t % 5 * 1.0});
  restarts.finish();
}

// The whole file, with the size and the checksum of its contents put right.
void use_checkpoint(const std::string& bytes) {
  const std::string name = file_of(with_right_checksum(bytes), ".checkpoint");
  Restarts restarts(fit_of_corpus("exact"), 1);
  take_up(read_checkpoint(name), name, restarts);
  go_on(restarts);
}

// The state alone, which has no checksum.
Target state_of(const std::string& kind) {
  return [kind](const std::string& bytes) {
    Restarts restarts(fit_of_corpus(kind), 1);
    take_up({fit_options(restarts), {}, {}, bytes}, "state", restarts);
    go_on(restarts);
  };
}

// A socket that is connected to this port of this machine. It is closed with a reset, so that no
// port has to wait for packets that are late.
class Connection {
 public:
  explicit Connection(std::uint16_t port) {
    const linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("the server does not listen any more");
    }
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(socket_); }

  // What comes back first; events would come for ever. A server that waits for more is told that
  // there is no more.
  std::string ask(const std::string& bytes) {
    send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    pollfd answered = {.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&answered, 1, kPatience) == 0) shutdown(socket_, SHUT_WR);
    std::string answer(4096, '\0');
    const ssize_t size = recv(socket_, answer.data(), answer.size(), 0);
    answer.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return answer;
  }

 private:
  static constexpr int kPatience = 20;  // milliseconds

  int socket_ = socket(AF_INET, SOCK_STREAM, 0);
};

// The server of fit --serve, given any bytes.
void ask_server(const std::string& bytes) {
  static const std::unique_ptr<LiveServer> server = [] {
    auto started = start_live_server({});
    started->publish(std::make_shared<LiveSnapshot>());
    return started;
  }();
  if (!Connection(server->address().port).ask(bytes).starts_with("HTTP/1.1 200")) {
    throw InputError("not answered");
  }
}

}  // namespace

const std::map<std::string, Target>& targets() {
  static const std::map<std::string, Target> all = {
      {"csv", reader(".csv")},
      {"csv_gz", reader(".csv.gz")},
      {"jsonl", reader(".jsonl")},
      {"mtx", reader(".mtx")},
      {"npy", reader(".npy")},
      {"hdf5", reader(".h5", ":/counts")},
      {"http", ask_server},
      {"model", use_model},
      {"checkpoint", use_checkpoint},
      {"state", state_of("exact")},
      {"state_beam", state_of("beam")},
      {"state_dispersed", state_of("dispersed")},
      {"state_fast", state_of("fast")},
      {"state_forward", state_of("forward")},
      {"state_paris", state_of("paris")},
      {"state_path", state_of("path")},
      {"state_printed", state_of("printed")},
  };
  return all;
}
