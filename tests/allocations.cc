// Counts the allocations of a stream in its steady state: a step without an M-step must not
// allocate. M-steps, one in 64 observations, may.
//
// Every allocation ends in one of the C library's functions below. This program replaces them and
// forwards to glibc's internal names.

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "headwater/learning/online_em.hpp"
#include "headwater/registry.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {
std::size_t num_allocations = 0;
}

extern "C" {
void* malloc(std::size_t size) {
  ++num_allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++num_allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++num_allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++num_allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  ++num_allocations;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
}

using namespace headwater;

namespace {

struct Case {
  std::string name;
  std::string prior;
  EngineKind engine = EngineKind::kParticle;
  SmootherKind smoother = SmootherKind::kAuto;
  ProposalKind proposal = ProposalKind::kPrior;
  Index num_particles = 600;  // two chunks
};

// Enough steps for blocks to reach their full length and for all buffers to grow.
constexpr int kWarm = 6000;
constexpr int kCounted = 640;
constexpr Index kChannels = 12;
constexpr Index kComponents = 4;
// Small enough that channels without a count are many, and their number varies from step to step.
constexpr double kLargestEntry = 0.8;

bool is_steady(const Case& c) {
  Config config;
  config.num_components = kComponents;
  config.initial_basis = random_basis(kChannels, kComponents, kLargestEntry, 1);
  config.prior.name = c.prior;
  config.engine.kind = c.engine;
  config.engine.num_particles = c.num_particles;
  config.engine.proposal = c.proposal;
  config.engine.beam_width = 6;
  config.smoother = c.smoother;
  // The average's filter is made anew for each of its trials, and its buffers grow once again.
  config.average = Average::kNone;
  // The lag of finite priors follows what is learned of their memory, and the window grows with it.
  if (c.engine == EngineKind::kExact || c.engine == EngineKind::kBeam) config.lag = 20;
  config.trace_every = 1 << 30;
  Simulator stream(make_prior(kComponents, config.prior), config.initial_basis, 2);
  Session session(config);
  Observation y;
  for (int t = 0; t < kWarm; ++t) {
    stream.next();
    y.assign(stream.observation());
    session.update(y);
  }
  std::size_t in_steps = 0;
  std::vector<std::size_t> in_m_steps;
  for (int t = 0; t < kCounted; ++t) {
    stream.next();
    const std::int64_t m_steps = session.learner()->m_steps();
    const std::size_t before = num_allocations;
    y.assign(stream.observation());
    session.update(y);
    const std::size_t allocated = num_allocations - before;
    if (session.learner()->m_steps() > m_steps) {
      in_m_steps.push_back(allocated);
    } else {
      in_steps += allocated;
    }
  }
  fmt::print("{:40} {} allocations in {} steps, {} an M-step\n", c.name, in_steps,
             kCounted - in_m_steps.size(), in_m_steps.empty() ? 0 : in_m_steps.back());
  return in_steps == 0 && in_m_steps.size() == kCounted / 64;
}

}  // namespace

int main() {
  const std::vector<std::size_t> self_check(1);
  if (num_allocations == 0 || self_check.empty()) {
    fmt::print("allocations are not counted\n");
    return EXIT_FAILURE;
  }
  bool is_good = true;
  constexpr auto kExact = EngineKind::kExact;
  constexpr auto kBeam = EngineKind::kBeam;
  constexpr auto kFast = EngineKind::kFast;
  std::vector<Case> cases = {
      {"exact", "basis-selection", kExact},
      {"beam", "basis-selection", kBeam},
      {"fast, gamma", "gamma", kFast},
      {"fast, independent", "independent", kFast},
      {"fast, log-gaussian", "log-gaussian", kFast},
      {.name = "path", .prior = "relaxed-selection", .smoother = SmootherKind::kPath},
      {.name = "paris", .prior = "relaxed-selection", .smoother = SmootherKind::kParis},
      {.name = "forward",
       .prior = "relaxed-selection",
       .smoother = SmootherKind::kForward,
       .num_particles = 30},
  };
  for (const char* prior :
       {"basis-selection", "relaxed-selection", "log-gaussian", "gamma", "independent"}) {
    cases.push_back({.name = fmt::format("particles, {}", prior), .prior = prior});
    cases.push_back({.name = fmt::format("guided particles, {}", prior),
                     .prior = prior,
                     .proposal = ProposalKind::kGuided});
  }
  for (const Case& c : cases) is_good = is_steady(c) && is_good;
  return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
