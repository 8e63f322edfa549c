// The accuracy of online EM with particles on the paper's second example, compared with the
// estimate that knows all activations. M = 8, K = 5, prior relaxed-selection with alpha = .95,
// start = truth times exp(.5 normal) unless a row says otherwise.
//   Usage: bench_example2_accuracy [DATA SETS] [T] [PARTICLES] [FIRST SEED]

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

constexpr Index kChannels = 8;
constexpr Index kComponents = 5;
constexpr double kAlpha = 0.95;
constexpr double kStartingAlpha = 0.8;  // if alpha is learned

struct DataSet {
  std::uint64_t seed;
  Matrix basis;
  Matrix activations;  // K x T
  Matrix record;       // M x T
  Matrix start;
};

struct Way {
  const char* name;
  SmootherKind smoother;
  double exponent;   // 0: the default
  bool as_in_paper;  // Algorithm 1 as printed: last iterate, resampling at every step
  bool learns_alpha;
  bool knows_nothing;  // automatic start
  int passes = 1;      // over the record
};

struct Result {
  double error;
  double alpha;
};

DataSet simulate(Index length, std::uint64_t seed) {
  DataSet data;
  data.seed = seed;
  data.basis = random_basis(kChannels, kComponents, 10, seed);
  data.activations.resize(kComponents, length);
  data.record.resize(kChannels, length);
  Simulator simulator(AnyPrior(RelaxedSelection(kComponents, kAlpha)), data.basis, seed);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    data.activations.col(t) = Eigen::Map<const Vector>(simulator.activation().data(), kComponents);
    data.record.col(t) = Eigen::Map<const Vector>(simulator.observation().data(), kChannels);
  }
  data.start = reference::perturbed(data.basis, 0.5, seed);
  return data;
}

// The maximum-likelihood estimate given the activations, by the multiplicative updates of EM. They
// start at the truth; the likelihood is concave. If all activations round to 0, there is no count.
Matrix knowing_activations(const DataSet& data) {
  const Vector exposure = data.activations.rowwise().sum();
  Matrix basis = data.basis;
  for (int iteration = 0; iteration < 5000; ++iteration) {
    const Matrix intensity = basis * data.activations;
    const Matrix ratio =
        (data.record.array() > 0).select(data.record.array() / intensity.array(), 0);
    const Matrix factor =
        (ratio * data.activations.transpose()) * exposure.cwiseInverse().asDiagonal();
    basis.array() *= factor.array();
    if ((factor.array() - 1).abs().maxCoeff() < 1e-8) break;
  }
  return basis;
}

double error_of(const Matrix& estimate, const DataSet& data) {
  return root_mean_square_error(in_order_of(estimate, data.basis), data.basis);
}

Config config_for(const DataSet& data, const Way& way, Index particles) {
  Config config;
  config.num_components = kComponents;
  if (!way.knows_nothing) config.initial_basis = data.start;
  config.prior.name = "relaxed-selection";
  config.prior.parameters = {scalar_parameter("alpha", way.learns_alpha ? kStartingAlpha : kAlpha)};
  if (!way.learns_alpha) config.m_step.held_parameters = {"alpha"};
  config.engine.kind = EngineKind::kParticle;
  config.engine.num_particles = particles;
  config.engine.resample_below = way.as_in_paper ? 1 : 0.5;
  config.smoother = way.smoother;
  if (way.exponent > 0) config.step_size = StepSize::power(way.exponent);
  config.average = way.as_in_paper ? Average::kNone : Average::kPolyak;
  config.paper_exact = way.as_in_paper;
  config.seed = bench::filter_seed(data.seed);
  return config;
}

Result learn(const DataSet& data, const Way& way, Index particles) {
  Session session(config_for(data, way, particles));
  for (int pass = 0; pass < way.passes; ++pass) {
    for (Index t = 0; t < data.record.cols(); ++t) session.update(as_span(data.record.col(t)));
  }
  session.finish();
  const Estimate reported = session.model().reported;
  return {error_of(reported.basis, data), reported.prior.parameters().front().value(0)};
}

void print_row(const char* name, const std::vector<double>& errors,
               const std::vector<double>& best) {
  const double best_error = bench::root_mean_square(best);
  fmt::print("{:<46} {:8.4f} {:8.2f}  ", name, bench::root_mean_square(errors),
             bench::root_mean_square(errors) / best_error);
  for (std::size_t set = 0; set < best.size(); ++set) {
    fmt::print(" {:.2f}", errors[set] / best[set]);
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int num_sets = argc > 1 ? std::atoi(argv[1]) : 5;
  const Index length = argc > 2 ? std::atol(argv[2]) : 50000;
  const Index particles = argc > 3 ? std::atol(argv[3]) : 1000;
  const auto first_seed = static_cast<std::uint64_t>(argc > 4 ? std::atol(argv[4]) : 1);
  const std::vector<Way> ways = {
      {"as in the paper: path, power:0.8, last iterate", SmootherKind::kPath, 0.8, true, false,
       false},
      {"path, power:0.6, averaged", SmootherKind::kPath, 0.6, false, false, false},
      {"lag, power:0.6, averaged", SmootherKind::kLag, 0.6, false, false, false},
      {"paris, power:0.6, averaged", SmootherKind::kParis, 0.6, false, false, false},
      {"lag, power:0.6, averaged, alpha learned", SmootherKind::kLag, 0.6, false, true, false},
      {"default", SmootherKind::kAuto, 0, false, false, false},
      {"default, the record twice", SmootherKind::kAuto, 0, false, false, false, 2},
      {"default, nothing known", SmootherKind::kAuto, 0, false, true, true},
      {"default, nothing known, the record twice", SmootherKind::kAuto, 0, false, true, true, 2},
  };
  fmt::print(
      "Example 2, T = {}, {} particles, {} data sets from seed {}: root-mean-square error of the "
      "basis\n\n",
      length, particles, num_sets, first_seed);
  const ThreadPool pool(2);
  std::vector<double> best;
  std::vector<std::vector<double>> errors(ways.size());
  std::vector<double> alphas;
  for (int set = 0; set < num_sets; ++set) {
    const DataSet data = simulate(length, first_seed + static_cast<std::uint64_t>(set));
    best.push_back(error_of(knowing_activations(data), data));
    std::vector<Result> results(ways.size());
    pool.run(static_cast<Index>(ways.size()),
             [&](Index way) { results[way] = learn(data, ways[way], particles); });
    for (std::size_t way = 0; way < ways.size(); ++way) {
      errors[way].push_back(results[way].error);
      if (ways[way].learns_alpha && !ways[way].knows_nothing) alphas.push_back(results[way].alpha);
    }
  }
  fmt::print("{:<46} {:>8} {:>8}   {}\n", "", "error", "/ best", "each data set / its best");
  print_row("best: every activation known", best, best);
  for (std::size_t way = 0; way < ways.size(); ++way) {
    print_row(ways[way].name, errors[way], best);
  }
  fmt::print("\nalpha = {}, learned from {}: mean {:.5f}, s.d. over data sets {:.5f};", kAlpha,
             kStartingAlpha, bench::mean(alphas), bench::standard_deviation(alphas));
  for (const double alpha : alphas) fmt::print(" {:.5f}", alpha);
  fmt::print("\n");
}
