// What an observation costs one of several ranks that share the channels, and what messages cost.
//
//   mpirun -n R bench_rank_costs fit CHANNELS NONZEROS COMPONENTS LENGTH fast|particle PARTICLES
//   mpirun -n 2 bench_rank_costs messages
//
// Counts are drawn in memory: NONZEROS is the part of the channels that has one. Prints JSON. The
// processor time of a rank leaves out what it spends in messages, where it waits for the others.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "cli/mpi/mpi_ranks.hpp"
#include "headwater/headwater.hpp"
#include "headwater/random.hpp"
#include "headwater/reducer.hpp"

using namespace headwater;

namespace {

double processor_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Counts messages, and the processor time that is spent in them.
class MeasuredRanks final : public Ranks {
 public:
  explicit MeasuredRanks(Ranks& ranks) : ranks_(ranks) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  void send(std::span<const double> values, int to) override {
    measure([&] { ranks_.send(values, to); });
  }
  void receive(std::span<double> values, int from) override {
    measure([&] { ranks_.receive(values, from); });
  }
  void broadcast(std::span<double> values, int from) override {
    sums += 1;
    summed_bytes += static_cast<double>(values.size_bytes());
    measure([&] { ranks_.broadcast(values, from); });
  }
  void gather(std::span<double> values, std::span<const Index> counts) override {
    gathers += 1;
    gathered_bytes += static_cast<double>(values.size_bytes());
    measure([&] { ranks_.gather(values, counts); });
  }

  double seconds = 0;
  double sums = 0;  // each ends with a broadcast
  double summed_bytes = 0;
  double gathers = 0;
  double gathered_bytes = 0;

 private:
  template <class Message>
  void measure(const Message& message) {
    const double begin = processor_seconds();
    message();
    seconds += processor_seconds() - begin;
  }

  Ranks& ranks_;
};

std::vector<Observation> draw(Index num_channels, double part, Index length) {
  std::vector<Observation> observations(static_cast<std::size_t>(length));
  for (std::size_t t = 0; t < observations.size(); ++t) {
    Generator generator = RandomStream(5).at(t, 0, Purpose::observation);
    observations[t].begin(num_channels);
    for (double at = 0;;) {
      at += 1 - (1 / part - 1) * std::log(generator.uniform());  // gaps of mean 1 / part
      if (at > static_cast<double>(num_channels)) break;
      observations[t].add(static_cast<Index>(at) - 1, 1 + poisson(generator, 0.3));
    }
  }
  return observations;
}

Config config_for(const std::string& engine, Index components, Index particles) {
  Config config;
  config.num_components = components;
  config.prior.name = "gamma";
  config.counts.law = "poisson";
  config.init = Init::kRandom;
  config.start_on = 8;
  config.burn_in = 8;
  config.outliers = Outliers::kKeep;
  config.trace_every = 1'000'000;  // the trace of so large a basis would be most of the memory
  config.engine.kind = engine == "fast" ? EngineKind::kFast : EngineKind::kParticle;
  config.engine.proposal = ProposalKind::kPrior;
  config.engine.num_particles = particles;
  return config;
}

void fit(MpiRanks& mpi, const std::vector<std::string>& words) {
  const Index channels = std::stol(words.at(0));
  const Index length = std::stol(words.at(3));
  const std::vector<Observation> data = draw(channels, std::stod(words[1]), length);
  MeasuredRanks ranks(mpi);
  SharedChannels shared(ranks, channels, Reducer::kBlock);
  if (shared.num_at_work() == ranks.size()) shared.keep_own_rows();
  Session session(config_for(words.at(4), std::stol(words[2]), std::stol(words.at(5))));
  // The first half brings the fit to its usual pace.
  const std::size_t half = data.size() / 2;
  for (std::size_t t = 0; t < half; ++t) session.update(data[t]);
  const double sums = ranks.sums, summed = ranks.summed_bytes;
  const double gathers = ranks.gathers, gathered = ranks.gathered_bytes;
  const double begin = processor_seconds() - ranks.seconds;
  const double wall = wall_seconds();
  for (std::size_t t = half; t < data.size(); ++t) session.update(data[t]);
  const auto count = static_cast<double>(data.size() - half);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::vector<double> all(static_cast<std::size_t>(2 * mpi.size()), 0);
  const auto place = static_cast<std::size_t>(2 * mpi.rank());
  all[place] = (processor_seconds() - ranks.seconds - begin) / count;
  all[place + 1] = static_cast<double>(usage.ru_maxrss) / 1024;
  const std::vector<Index> counts(static_cast<std::size_t>(mpi.size()), 2);
  mpi.gather(all, counts);
  if (mpi.rank() > 0) return;
  double slowest = 0;
  std::string memory;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    slowest = std::max(slowest, all[i]);
    memory += fmt::format("{}{:.0f}", i > 0 ? ", " : "", all[i + 1]);
  }
  fmt::print(
      "{{\"processor_seconds\": {:.6g}, \"wall_seconds\": {:.6g}, \"megabytes\": [{}], "
      "\"sums\": {:.6g}, \"summed_bytes\": {:.6g}, \"gathers\": {:.6g}, \"gathered_bytes\": "
      "{:.6g}}}\n",
      slowest, (wall_seconds() - wall) / count, memory, (ranks.sums - sums) / count,
      (ranks.summed_bytes - summed) / count, (ranks.gathers - gathers) / count,
      (ranks.gathered_bytes - gathered) / count);
}

// There and back, of messages of several lengths: the shortest of many, since others may want the
// processor.
void measure_messages(MpiRanks& ranks) {
  std::string line;
  for (const std::size_t size : {1UL, 32UL, 512UL, 8192UL, 131072UL, 2097152UL}) {
    std::vector<double> values(size, 1);
    double least = 1e9;
    for (int i = 0; i < (size > 100000 ? 20 : 2000); ++i) {
      const double begin = wall_seconds();
      if (ranks.rank() == 0) {
        ranks.send(values, 1);
        ranks.receive(values, 1);
      } else if (ranks.rank() == 1) {
        ranks.receive(values, 0);
        ranks.send(values, 0);
      }
      least = std::min(least, (wall_seconds() - begin) / 2);
    }
    line += fmt::format("{}[{}, {:.4g}]", line.empty() ? "" : ", ", 8 * size, least);
  }
  if (ranks.rank() == 0) fmt::print("{{\"messages\": [{}]}}\n", line);
}

}  // namespace

int main(int argc, char** argv) {
  MpiRanks ranks(argc, argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "messages") {
    measure_messages(ranks);
  } else {
    fit(ranks, {words.begin() + 1, words.end()});
  }
}
