// How far the statistics of each particle smoother scatter around the exact ones, with parameters
// held at the truth: basis-selection, M = 8, K = 5, entries of the basis uniform on (0, 1), all
// observations with equal weights. Errors of S2 are in Frobenius norm, relative to the exact S2.
//   Usage: bench_smoother_spread [RUNS] [T] [SEED OF THE DATA]

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

using Smoother = ParticleEngineOptions::Smoother;

struct Problem {
  AnyPrior prior;
  Matrix basis;
  Matrix record;
  Matrix exact;  // S2 given the whole record
};

struct Way {
  const char* name;
  Smoother smoother;
  Index lag;  // 0: the smoother's default
  BackwardDraw draw;
  Index draws;
  Index particles;
};

struct Run {
  Matrix s2;
  double time = 0;  // seconds per step
};

struct Spread {
  double deviation = 0;   // over seeds
  double bias = 0;        // of the mean over seeds
  double bias_noise = 0;  // expected size of `bias` if there is none
  double time = std::numeric_limits<double>::infinity();  // seconds per step, fastest run

  double variance_times_time() const { return deviation * deviation * time; }
};

std::vector<Way> ways() {
  const BackwardDraw mcmc = BackwardDraw::kMcmc;
  std::vector<Way> all;
  for (const Index n : {200, 1000}) {
    all.push_back({"path", Smoother::kPath, 0, mcmc, 2, n});
    all.push_back({"lag 5", Smoother::kLag, 5, mcmc, 2, n});
    all.push_back({"lag 10", Smoother::kLag, 10, mcmc, 2, n});
    all.push_back({"lag 20", Smoother::kLag, 20, mcmc, 2, n});
    all.push_back({"paris, mcmc, 2 draws", Smoother::kParis, 0, mcmc, 2, n});
    all.push_back({"paris, mcmc, 4 draws", Smoother::kParis, 0, mcmc, 4, n});
  }
  all.push_back({"path", Smoother::kPath, 0, mcmc, 2, 5000});
  all.push_back(
      {"paris, rejection, 2 draws", Smoother::kParis, 0, BackwardDraw::kRejection, 2, 200});
  all.push_back({"paris, exact, 2 draws", Smoother::kParis, 0, BackwardDraw::kExact, 2, 200});
  all.push_back({"forward", Smoother::kForward, 0, mcmc, 2, 200});
  return all;
}

Problem problem(double stay_off, double stay_on, Index length, std::uint64_t seed) {
  const AnyPrior prior(BasisSelection(5, stay_off, stay_on));
  const Matrix basis = random_basis(8, 5, 1, seed);
  const Matrix record = reference::simulate_record(prior, basis, length, seed);
  const Matrix exact = ExactBatch(prior.finite_chain(), basis, Record(record)).statistics(false).s2;
  return {prior, basis, record, exact};
}

ParticleEngine engine(const Problem& p, const Way& way, std::uint64_t seed) {
  ParticleEngineOptions options;
  options.filter.num_particles = way.particles;
  options.filter.seed = seed;
  options.smoother = way.smoother;
  options.backward_draw = way.draw;
  options.num_backward_draws = way.draws;
  options.window.lag = way.lag;
  options.learn_prior = false;
  return {p.prior, p.basis, options, std::make_shared<ThreadPool>(1)};
}

Matrix smoothed(const Problem& p, ParticleEngine engine) {
  for (Index t = 0; t < p.record.cols(); ++t) {
    engine.step(as_span(p.record.col(t)), 1 / static_cast<double>(t + 1));
  }
  engine.finish();
  return engine.statistics().s2;
}

Run run_once(const Problem& p, const Way& way, std::uint64_t seed) {
  Run run;
  run.time = bench::processor_seconds([&] { run.s2 = smoothed(p, engine(p, way, seed)); }) /
             static_cast<double>(p.record.cols());
  return run;
}

std::vector<Run> run_all(const Problem& p, const Way& way, int num_runs, std::uint64_t seed) {
  const ThreadPool pool(2);
  std::vector<Run> runs(static_cast<std::size_t>(num_runs));
  pool.run(num_runs, [&](Index run) {
    runs[run] = run_once(p, way, bench::filter_seed(seed) + static_cast<std::uint64_t>(run));
  });
  return runs;
}

Spread spread_of(const std::vector<Run>& runs, const Matrix& exact) {
  const auto count = static_cast<double>(runs.size());
  Spread spread;
  Matrix mean = Matrix::Zero(exact.rows(), exact.cols());
  for (const Run& run : runs) {
    mean += run.s2 / count;
    spread.time = std::min(spread.time, run.time);
  }
  double squares = 0;
  for (const Run& run : runs) squares += (run.s2 - mean).squaredNorm();
  spread.deviation = std::sqrt(squares / (count - 1)) / exact.norm();
  spread.bias = (mean - exact).norm() / exact.norm();
  spread.bias_noise = spread.deviation / std::sqrt(count);
  return spread;
}

void print_ratios(const Spread& path, const Spread& paris) {
  fmt::print("path / paris (mcmc, 2 draws), 1000 particles: s.d. {:.2f}, variance x time {:.2f}\n",
             path.deviation / paris.deviation,
             path.variance_times_time() / paris.variance_times_time());
}

void print_table(const Problem& p, int runs, std::uint64_t seed) {
  fmt::print("{:<26} {:>5} {:>9} {:>9} {:>9} {:>9} {:>11}\n", "smoother", "N", "s.d.", "bias",
             "its noise", "us/step", "var x time");
  Spread path;
  Spread paris;
  for (const Way& way : ways()) {
    const Spread spread = spread_of(run_all(p, way, runs, seed), p.exact);
    fmt::print("{:<26} {:>5} {:9.4f} {:9.4f} {:9.4f} {:9.1f} {:11.2e}\n", way.name, way.particles,
               spread.deviation, spread.bias, spread.bias_noise, 1e6 * spread.time,
               spread.variance_times_time());
    std::fflush(stdout);
    if (way.particles != 1000) continue;
    if (way.smoother == Smoother::kPath) path = spread;
    if (way.smoother == Smoother::kParis && way.draws == 2) paris = spread;
  }
  print_ratios(path, paris);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(2, std::atoi(argv[1])) : 12;
  const Index length = argc > 2 ? std::atol(argv[2]) : 1000;
  const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atol(argv[3]) : 1);
  fmt::print("Error of the smoothed S2, T = {}, {} runs on one record of seed {}\n", length, runs,
             seed);
  const double stays[2][2] = {{0.8571, 0.6926}, {0.98, 0.95}};
  for (const auto& [stay_off, stay_on] : stays) {
    fmt::print("\np = {}, q = {}\n", stay_off, stay_on);
    print_table(problem(stay_off, stay_on, length, seed), runs, seed);
  }
}
