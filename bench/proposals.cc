// Compares guided proposals with the bootstrap filter (proposals from the prior): effective sample
// size, log-likelihood and time per step, for every prior and several sizes.
//
//   Usage: bench_proposals [RUNS [STEPS [LARGEST_M [PRIOR]]]]   (default 6 15 1000 all)
//
// The basis is sparse with gamma entries, scaled to a given mean count. The parameters are the true
// ones, which are the defaults of the command. Runs differ only in the filter's seed. `gain` is the
// mean log-likelihood minus that of the bootstrap filter with 5,000 particles. `cost` is the time
// per step divided by that of the bootstrap filter with the same number of particles. `stages` is
// the number of tempering stages per step.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/filters/particle_filter.hpp"
#include "headwater/random.hpp"
#include "headwater/registry.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

struct Size {
  Index channels, components;
  double mean_count, density;
};

Matrix sparse_basis(const Size& size) {
  const RandomStream random(7);
  Matrix basis(size.channels, size.components);
  for (Index m = 0; m < size.channels; ++m) {
    Generator generator = random.at(0, static_cast<std::uint32_t>(m), Purpose::basis);
    for (Index k = 0; k < size.components; ++k) {
      const double entry = gamma(generator, 1);
      basis(m, k) = generator.uniform() < size.density ? entry : 1e-3 * entry;
    }
  }
  return basis;
}

// Scales the basis so that the counts of a long record have the given mean.
Matrix scaled_basis(const AnyPrior& prior, const Size& size) {
  const Matrix basis = sparse_basis(size);
  Simulator stream(prior, basis, 11);
  double sum = 0;
  const int steps = 400;
  for (int t = 0; t < steps; ++t) {
    stream.next();
    sum += Eigen::Map<const Vector>(stream.observation().data(), size.channels).mean();
  }
  return basis * (size.mean_count * steps / sum);
}

struct Found {
  double log_likelihood, effective_part, stages, milliseconds;
};

Found run(const AnyPrior& prior, const Matrix& basis, const Matrix& record,
          const ParticleFilterOptions& options) {
  ParticleFilter filter(prior, basis, options, std::make_shared<const ThreadPool>(1));
  Found found{};
  const auto steps = static_cast<double>(record.cols());
  const double seconds = bench::processor_seconds([&] {
    for (Index t = 0; t < record.cols(); ++t) {
      const FilterStep step = filter.step(as_span(record.col(t)));
      found.log_likelihood += step.log_predictive;
      found.stages += static_cast<double>(step.particles()->bridge_stages) / steps;
      found.effective_part +=
          step.particles()->effective_size / static_cast<double>(options.num_particles) / steps;
    }
  });
  found.milliseconds = 1e3 * seconds / steps;
  return found;
}

struct Method {
  std::string name;
  Index particles;
  bool guided;
  double bridge_below;
};

void compare(const std::string& name, const Size& size, int runs, int steps) {
  const AnyPrior prior = make_prior(size.components, {name, {}, false});
  const Matrix basis = scaled_basis(prior, size);
  Simulator stream(prior, basis, 3);
  Matrix record(size.channels, steps);
  for (int t = 0; t < steps; ++t) {
    stream.next();
    record.col(t) = Eigen::Map<const Vector>(stream.observation().data(), size.channels);
  }
  double reference = 0;
  double cost = 0;
  for (const Method& method :
       {Method{"bootstrap", 5000, false, 0}, Method{"bootstrap", 500, false, 0},
        Method{"guided", 500, true, 0}, Method{"bridged", 500, true, 0.3}}) {
    std::vector<double> log_likelihoods, parts, stages, times;
    for (int r = 0; r < runs; ++r) {
      ParticleFilterOptions options;
      options.num_particles = method.particles;
      options.seed = bench::filter_seed(static_cast<std::uint64_t>(r));
      options.guided = method.guided;
      options.bridge_below = method.bridge_below;
      const Found found = run(prior, basis, record, options);
      log_likelihoods.push_back(found.log_likelihood);
      parts.push_back(found.effective_part);
      stages.push_back(found.stages);
      times.push_back(found.milliseconds);
    }
    const double mean = bench::mean(log_likelihoods);
    if (method.particles == 5000) reference = mean;
    if (method.particles == 500 && !method.guided) cost = bench::mean(times);
    fmt::print("{:18} {:>8} {:10} {:5} {:12.1f} {:8.1f} {:9.1f} {:7.4f} {:7.2f} {:8.3f} {}\n", name,
               fmt::format("{}x{}", size.channels, size.components), method.name, method.particles,
               mean, bench::standard_deviation(log_likelihoods), mean - reference,
               bench::mean(parts), bench::mean(stages), bench::mean(times),
               cost > 0 ? fmt::format("{:.2f}", bench::mean(times) / cost) : "");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 6;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 15;
  const Index largest = argc > 3 ? std::atoi(argv[3]) : 1000;
  const std::string only = argc > 4 ? argv[4] : "";
  fmt::print("{:18} {:>8} {:10} {:>5} {:>12} {:>8} {:>9} {:>7} {:>7} {:>8} {}\n", "prior", "MxK",
             "proposal", "N", "log-lik", "sd", "gain", "ESS/N", "stages", "ms/step", "cost");
  for (const PriorInfo& prior : prior_registry()) {
    if (!only.empty() && prior.name != only) continue;
    for (const Size& size : {Size{8, 5, 24, 0.5}, Size{50, 10, 5.4, 0.3}, Size{200, 20, 8.3, 0.3},
                             Size{1000, 50, 12, 0.3}}) {
      if (size.channels <= largest) compare(prior.name, size, runs, steps);
    }
  }
}
