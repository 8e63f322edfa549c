// Times the main loops of a step separately, with Google Benchmark. Particles: the paper's second
// example (relaxed-selection, alpha = .95, M = 8, K = 5). Exact engine: its first example.
//   Usage: bench_kernels [--benchmark_filter=NAME] [--benchmark_format=json] ...
// bench/speed compares the times for N = 1000 with lower bounds, which it computes from the
// counters.

#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/filters/exact_filter.hpp"
#include "headwater/filters/particle_filter.hpp"
#include "headwater/kernels/log_weights.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

constexpr Index kChannels = 8;
constexpr Index kComponents = 5;
constexpr Index kLength = 256;
constexpr std::uint64_t kSeed = 1;

Matrix exponential_basis(Index channels, Index components) {
  Generator generator = RandomStream(kSeed).at(0, 0, Purpose::basis);
  return Matrix::NullaryExpr(channels, components, [&] { return 10 * exponential(generator); });
}

std::vector<Observation> observations_of(const Matrix& record) {
  std::vector<Observation> observations;
  for (Index t = 0; t < record.cols(); ++t) observations.emplace_back(as_span(record.col(t)));
  return observations;
}

// A stream, and a particle filter that has processed its first half.
struct Cloud {
  explicit Cloud(Index particles)
      : prior(RelaxedSelection(kComponents, 0.95)),
        basis(exponential_basis(kChannels, kComponents)),
        record(reference::simulate_record(prior, basis, kLength, kSeed)),
        observations(observations_of(record)),
        emission(basis),
        filter(prior, emission, options(particles), std::make_shared<ThreadPool>(1)) {
    for (Index t = 0; t < kLength / 2; ++t) filter.step(observations[t]);
  }

  static ParticleFilterOptions options(Index particles) {
    ParticleFilterOptions options;
    options.num_particles = particles;
    options.seed = bench::filter_seed(kSeed);
    return options;
  }

  void look_at(Index t, Evidence& seen) const {
    emission.look_at(observations[t], seen);
    seen.gather_rows();
  }

  AnyPrior prior;
  Matrix basis;
  Matrix record;
  std::vector<Observation> observations;
  Emission emission;
  ParticleFilter filter;
};

void moves(benchmark::State& state) {
  const Cloud cloud(state.range(0));
  const RandomStream random(kSeed);
  Matrix next = cloud.filter.states();
  std::uint64_t time = 0;
  for (auto _ : state) {
    cloud.prior.sample_transition({random, ++time, 0, Purpose::particle_moves},
                                  cloud.filter.states(), next);
    benchmark::DoNotOptimize(next.data());
  }
}

void activations(benchmark::State& state) {
  const Cloud cloud(state.range(0));
  Matrix x = cloud.filter.activations();
  for (auto _ : state) {
    cloud.prior.activations(cloud.filter.states(), x);
    benchmark::DoNotOptimize(x.data());
  }
}

// Counters: positive, the channels with a count; bits, the mean of log2(count) over those channels.
void likelihood(benchmark::State& state) {
  const Cloud cloud(state.range(0));
  Vector out(state.range(0));
  Evidence seen;
  Index t = 0;
  for (auto _ : state) {
    cloud.look_at(t, seen);
    seen.log_likelihoods(cloud.filter.activations(), as_span(out));
    benchmark::DoNotOptimize(out.data());
    t = (t + 1) % kLength;
  }
  const auto positive = (cloud.record.array() > 0).cast<double>();
  state.counters["positive"] = positive.colwise().sum().mean();
  state.counters["bits"] = (positive * cloud.record.array().max(1).log2()).sum() / positive.sum();
}

void normalise(benchmark::State& state) {
  const Cloud cloud(state.range(0));
  Evidence seen;
  Vector log_weights(state.range(0));
  Vector weights(state.range(0));
  cloud.look_at(0, seen);
  seen.log_likelihoods(cloud.filter.activations(), as_span(log_weights));
  for (auto _ : state) {
    benchmark::DoNotOptimize(normalise_log_weights(as_span(log_weights), as_span(weights)));
  }
}

void resampling(benchmark::State& state) {
  const Cloud cloud(state.range(0));
  Ancestors ancestors(static_cast<std::size_t>(state.range(0)));
  Generator generator = RandomStream(kSeed).at(1, 0, Purpose::resampling);
  for (auto _ : state) {
    resample(Resampling::kSystematic, as_span(cloud.filter.weights()), generator, ancestors);
    benchmark::DoNotOptimize(ancestors.data());
  }
}

// The statistics of one observation, summed over all particles.
void statistics(benchmark::State& state) {
  const Cloud cloud(state.range(0));
  const std::unique_ptr<EmissionSums> adder = cloud.emission.sums();
  Statistics sums(kChannels, kComponents, 0);
  Index t = 0;
  for (auto _ : state) {
    adder->add_one(cloud.filter.activations(), cloud.emission, cloud.filter.weights(),
                   cloud.observations[t], sums);
    benchmark::DoNotOptimize(sums.s2.data());
    t = (t + 1) % kLength;
  }
}

void filter_step(benchmark::State& state) {
  Cloud cloud(state.range(0));
  Index t = kLength / 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cloud.filter.step(cloud.observations[t]));
    t = (t + 1) % kLength;
  }
}

// All particles against one, as smoothers forward and paris need it.
void log_transition(benchmark::State& state) {
  const Cloud cloud(state.range(0));
  Vector out(state.range(0));
  const Matrix next = cloud.filter.states().row(0);
  for (auto _ : state) {
    cloud.prior.log_transition(cloud.filter.states(), next, out);
    benchmark::DoNotOptimize(out.data());
  }
}

struct Selection {
  explicit Selection(Index components)
      : prior(BasisSelection(components, 0.8571, 0.6926)),
        basis(exponential_basis(kChannels, components)),
        observations(observations_of(reference::simulate_record(prior, basis, kLength, kSeed))),
        filter(prior.finite_chain(), basis) {}

  AnyPrior prior;
  Matrix basis;
  std::vector<Observation> observations;
  ExactFilter filter;
};

void exact_filter_step(benchmark::State& state) {
  Selection selection(state.range(0));
  Index t = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(selection.filter.step(selection.observations[t]));
    t = (t + 1) % kLength;
  }
}

void push(benchmark::State& state) {
  const Selection selection(state.range(0));
  const KroneckerOperator& transition = *selection.filter.transition();
  Vector law =
      Vector::Constant(transition.num_states(), 1 / static_cast<double>(transition.num_states()));
  for (auto _ : state) {
    transition.push(as_span(law));
    benchmark::DoNotOptimize(law.data());
  }
}

BENCHMARK(moves)->Arg(1000)->Arg(20000);
BENCHMARK(activations)->Arg(1000)->Arg(20000);
BENCHMARK(likelihood)->Arg(1000)->Arg(20000);
BENCHMARK(normalise)->Arg(1000)->Arg(20000);
BENCHMARK(resampling)->Arg(1000)->Arg(20000);
BENCHMARK(statistics)->Arg(200)->Arg(1000)->Arg(20000);
BENCHMARK(filter_step)->Arg(1000)->Arg(20000);
BENCHMARK(log_transition)->Arg(300)->Arg(1000);
BENCHMARK(exact_filter_step)->Arg(5)->Arg(10);
BENCHMARK(push)->Arg(5)->Arg(10);

}  // namespace
}  // namespace headwater

BENCHMARK_MAIN();
