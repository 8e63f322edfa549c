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
  std::string prior;
  EngineKind engine;
  SmootherKind smoother;
  std::string name;
};

// Enough steps for blocks to reach their full length and for all buffers to grow.
constexpr int kWarm = 6000;
constexpr int kCounted = 640;

bool is_steady(const Case& c) {
  Config config;
  config.num_components = 3;
  config.initial_basis = random_basis(6, 3, 10, 1);
  config.prior.name = c.prior;
  config.engine.kind = c.engine;
  config.engine.num_particles = 600;  // two chunks
  config.smoother = c.smoother;
  config.trace_every = 1 << 30;
  Simulator stream(make_prior(3, config.prior), config.initial_basis, 2);
  Session session(config);
  for (int t = 0; t < kWarm; ++t) {
    stream.next();
    session.update(stream.observation());
  }
  std::size_t in_steps = 0;
  std::vector<std::size_t> in_m_steps;
  for (int t = 0; t < kCounted; ++t) {
    stream.next();
    const std::int64_t m_steps = session.learner()->m_steps();
    const std::size_t before = num_allocations;
    session.update(stream.observation());
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
  for (const Case& c :
       {Case{"basis-selection", EngineKind::kExact, SmootherKind::kAuto, "exact"},
        Case{"relaxed-selection", EngineKind::kParticle, SmootherKind::kLag, "lag"},
        Case{"relaxed-selection", EngineKind::kParticle, SmootherKind::kPath, "path"},
        Case{"relaxed-selection", EngineKind::kParticle, SmootherKind::kParis, "paris"},
        Case{"log-gaussian", EngineKind::kParticle, SmootherKind::kLag, "lag, log-gaussian"},
        Case{"gamma", EngineKind::kParticle, SmootherKind::kLag, "lag, gamma"}}) {
    is_good = is_steady(c) && is_good;
  }
  return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
