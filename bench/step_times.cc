// The cost of one observation in the library, for one case: times the steps of a session that is
// created as the command creates it, on a record in memory. Prints one line of JSON.
//
//   Usage: bench_step_times DATA BASIS [NAME=VALUE ...]
//   DATA, BASIS   files as the command reads them; the fit starts from the basis
//   prior=NAME  set.PARAMETER=X  engine=auto|exact|particle  smoother=auto|path|forward|paris|lag
//   particles=N  threads=N  block=N  paper-exact=0|1  average=auto|none
//   counts=LAW    (default auto)  proposal=auto|prior|guided
//   warm=N        steps before the timed ones (default 200)
//   steps=N       steps that are timed together (default 64, the interval between M-steps)
//   seconds=X     repeat the timed steps for X seconds; the record is reused from its start
//   lineages=L    particles: also count those with descendants 0, 1, .. L - 1 steps later

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/session.hpp"
#include "headwater/source.hpp"

using namespace headwater;

namespace {

using Words = std::map<std::string, std::string>;

// The number of steps over which lineages are counted.
constexpr Index kCountedSteps = 300;

Words parse(int argc, char** argv) {
  Words words;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos) throw UsageError(fmt::format("{}: NAME=VALUE expected", word));
    words[word.substr(0, sign)] = word.substr(sign + 1);
  }
  return words;
}

// Removes a word from the list, so that words left at the end are unknown ones.
std::string take(Words& words, const std::string& name, const std::string& otherwise) {
  const auto found = words.find(name);
  if (found == words.end()) return otherwise;
  const std::string value = found->second;
  words.erase(found);
  return value;
}

Index take_number(Words& words, const std::string& name, Index otherwise) {
  return std::stol(take(words, name, std::to_string(otherwise)));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Kind>
Kind take_kind(Words& words, const std::string& name, std::initializer_list<Kind> kinds) {
  const std::string value = take(words, name, "auto");
  for (const Kind kind : kinds) {
    if (to_string(kind) == value) return kind;
  }
  throw UsageError(fmt::format("there is no {} '{}'", name, value));
}

Parameters take_parameters(Words& words) {
  const std::string prefix = "set.";
  Parameters parameters;
  for (const auto& [name, value] : Words(words)) {
    if (!name.starts_with(prefix)) continue;
    parameters.push_back(scalar_parameter(name.substr(prefix.size()), std::stod(value)));
    words.erase(name);
  }
  return parameters;
}

Config take_config(Words& words, const Matrix& basis) {
  Config config;
  config.num_components = basis.cols();
  config.initial_basis = basis;
  config.prior.name = take(words, "prior", "relaxed-selection");
  config.prior.parameters = take_parameters(words);
  config.engine.kind =
      take_kind(words, "engine", {EngineKind::kAuto, EngineKind::kExact, EngineKind::kParticle});
  config.engine.num_particles = take_number(words, "particles", 1000);
  config.engine.num_threads = static_cast<int>(take_number(words, "threads", 1));
  config.smoother = take_kind(words, "smoother",
                              {SmootherKind::kAuto, SmootherKind::kPath, SmootherKind::kForward,
                               SmootherKind::kParis, SmootherKind::kLag});
  config.engine.proposal = take_kind(
      words, "proposal", {ProposalKind::kAuto, ProposalKind::kPrior, ProposalKind::kGuided});
  config.block = take_number(words, "block", 0);
  config.paper_exact = take(words, "paper-exact", "0") == "1";
  if (take(words, "average", "auto") == "none") config.average = Average::kNone;
  config.counts.law = take(words, "counts", "auto");
  config.seed = bench::filter_seed(1);
  config.trace_every = kMostObservations;  // a trace is no part of a step
  return config;
}

Matrix read_record(const std::string& name) {
  const auto source = open_source(name);
  std::vector<double> all;
  std::vector<double> y;
  while (source->next(y)) all.insert(all.end(), y.begin(), y.end());
  const Index rows = source->num_channels();
  return Eigen::Map<const Matrix>(all.data(), rows, static_cast<Index>(all.size()) / rows);
}

class Steps {
 public:
  Steps(const Config& config, Matrix record) : session_(config), record_(std::move(record)) {}

  void make(Index count) {
    for (Index i = 0; i < count; ++i) session_.update(as_span(record_.col(t_++ % record_.cols())));
  }

  const OnlineEm& learner() const { return *session_.learner(); }
  std::int64_t m_steps() const { return session_.learner() ? learner().m_steps() : 0; }

 private:
  Session session_;
  Matrix record_;
  Index t_ = 0;
};

// Means over some steps: alive[l] is the number of particles of l steps ago that still have
// descendants; resampled is the fraction of steps that resampled.
struct Lineages {
  std::vector<double> alive;
  double resampled = 0;
};

// `ancestors` has the newest step last. alive[l] += the number of particles of l steps ago that
// have descendants now.
void add_alive(const std::deque<Ancestors>& ancestors, std::vector<double>& alive) {
  std::set<std::int32_t> now;
  for (std::size_t i = 0; i < ancestors.back().size(); ++i) now.insert(static_cast<int>(i));
  for (std::size_t back = 0; back < alive.size(); ++back) {
    alive[back] += static_cast<double>(now.size());
    std::set<std::int32_t> before;
    for (const std::int32_t i : now) before.insert(ancestors[ancestors.size() - 1 - back][i]);
    now.swap(before);
  }
}

bool has_resampled(const Ancestors& ancestors) {
  for (std::size_t i = 0; i < ancestors.size(); ++i) {
    if (ancestors[i] != static_cast<std::int32_t>(i)) return true;
  }
  return false;
}

Lineages count_lineages(Steps& steps, Index lags) {
  const auto& engine = dynamic_cast<const ParticleEngine&>(steps.learner().engine());
  std::deque<Ancestors> ancestors;
  Lineages lineages;
  lineages.alive.resize(static_cast<std::size_t>(lags));
  for (Index t = 0; t < lags + kCountedSteps; ++t) {
    steps.make(1);
    ancestors.push_back(engine.filter().ancestors());
    if (t < lags) continue;
    ancestors.pop_front();
    add_alive(ancestors, lineages.alive);
    lineages.resampled += has_resampled(ancestors.back());
  }
  for (double& count : lineages.alive) count /= static_cast<double>(kCountedSteps);
  lineages.resampled /= static_cast<double>(kCountedSteps);
  return lineages;
}

// Peak resident memory in megabytes. We do not use getrusage(), whose value includes the memory
// that the process had before exec.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

void run(int argc, char** argv) {
  if (argc < 3) throw UsageError("usage: bench_step_times DATA BASIS [NAME=VALUE ...]");
  Words words = parse(argc, argv);
  const Index warm = take_number(words, "warm", 200);
  const Index block = take_number(words, "steps", 64);
  const double seconds = std::stod(take(words, "seconds", "0"));
  const Index lags = take_number(words, "lineages", 0);
  const Config config = take_config(words, read_matrix(argv[2]));
  if (!words.empty()) throw UsageError(fmt::format("unknown: {}", words.begin()->first));

  Steps steps(config, read_record(argv[1]));
  steps.make(warm);
  const std::int64_t m_steps_before = steps.m_steps();
  const auto start = std::chrono::steady_clock::now();
  Index count = 0;
  const double processor = bench::processor_seconds([&] {
    do {
      steps.make(block);
      count += block;
    } while (seconds_since(start) < seconds);
  });
  const double wall = seconds_since(start);
  const std::int64_t m_steps = steps.m_steps() - m_steps_before;
  const double memory = peak_memory();
  const Lineages lineages = lags > 0 ? count_lineages(steps, lags) : Lineages{};
  const double each = 1e6 / static_cast<double>(count);
  fmt::print(R"({{"processor_us": {:.5g}, "wall_us": {:.5g}, "steps": {}, "m_steps": {}, )"
             R"("peak_megabytes": {:.4g}, "alive": [{:.4g}], "resampled": {:.4g}}})"
             "\n",
             each * processor, each * wall, count, m_steps, memory, fmt::join(lineages.alive, ", "),
             lineages.resampled);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_step_times: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
