// Whether online EM finds the basis and the prior's parameters together, for every prior. In the
// start each entry and parameter is up to 50 % off; M = 8, K = 3, and every data set has its own
// basis. The standard error of an estimate is its standard deviation over data sets, and the mean
// should be within three of those. The last column shows the bias, which is of the order of the
// last step size and of 1 / particles: it is the mean error in units of its own standard error,
// s.d. / sqrt(n).
//
//   Usage: bench_joint_learning [DATA SETS] [T] [PARTICLES] [FIRST SEED] [SCALE] [PRIOR]
//   SCALE   entries of the basis are uniform on (0, SCALE)
//   PRIOR   run only the priors whose name contains this

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

constexpr Index kChannels = 8;
constexpr Index kComponents = 3;

struct Case {
  const char* name;
  AnyPrior truth;
  EngineKind engine;
};

struct Size {
  int sets;
  Index length;
  Index particles;
  std::uint64_t first_seed;
  double scale;
};

// The results of one data set.
struct Result {
  std::vector<double> parameters;  // all parameters, concatenated
  double scale = 0;                // mean ratio of column sums, estimate / truth
  double error = 0;                // relative error of the basis
};

std::vector<Case> cases() {
  Matrix moves(3, 3);
  moves << 0.80, 0.15, 0.05, 0.10, 0.85, 0.05, 0.20, 0.10, 0.70;
  const AnyPrior selection(BasisSelection(kComponents, 0.8571, 0.6926));
  const EngineKind particle = EngineKind::kParticle;
  return {
      {"basis-selection, exact", selection, EngineKind::kExact},
      {"basis-selection", selection, particle},
      {"finite, one-hot", AnyPrior(FiniteStatePrior(Matrix::Identity(3, 3), moves)), particle},
      {"relaxed-selection", AnyPrior(RelaxedSelection(kComponents, 0.9)), particle},
      {"log-gaussian", AnyPrior(LogGaussian(kComponents, 0.9, 0.3)), particle},
      {"gamma", AnyPrior(GammaPrior(kComponents, 2, 0.8)), particle},
      {"independent", AnyPrior(IndependentPrior(kComponents, 2)), particle},
  };
}

bool is_probability(const std::string& parameter) {
  return parameter == "stay_off" || parameter == "stay_on" || parameter == "alpha" ||
         parameter == "persistence";
}

// Multiplies each entry by a uniform number between .5 and 1.5.
Matrix blurred(const Matrix& truth, Generator& generator) {
  return truth.unaryExpr([&](double value) { return value * (0.5 + generator.uniform()); });
}

AnyPrior blurred(AnyPrior prior, Generator& generator) {
  for (Parameter parameter : prior.parameters()) {
    parameter.value = blurred(parameter.value, generator);
    if (is_probability(parameter.name)) {
      parameter.value = parameter.value.cwiseMin(0.98);
    } else if (parameter.name == "transition") {
      parameter.value.array().colwise() /= parameter.value.rowwise().sum().eval().array();
    }
    prior.set_parameter(parameter);
  }
  return prior;
}

std::vector<double> values_of(const AnyPrior& prior) {
  std::vector<double> values;
  for (const Parameter& parameter : prior.parameters()) {
    for (const double value : parameter.value.reshaped<Eigen::RowMajor>()) values.push_back(value);
  }
  return values;
}

std::vector<std::string> names_of(const AnyPrior& prior) {
  std::vector<std::string> names;
  for (const Parameter& parameter : prior.parameters()) {
    for (Index i = 0; i < parameter.value.rows(); ++i) {
      for (Index j = 0; j < parameter.value.cols(); ++j) {
        names.push_back(parameter.value.size() == 1
                            ? parameter.name
                            : fmt::format("{} {},{}", parameter.name, i + 1, j + 1));
      }
    }
  }
  return names;
}

Result learn(const Case& c, const Size& size, std::uint64_t seed) {
  const Matrix basis = random_basis(kChannels, kComponents, size.scale, seed);
  const Matrix record = reference::simulate_record(c.truth, basis, size.length, seed);
  Generator generator = RandomStream(seed).at(0, 0, Purpose::restart);
  Config config;
  config.initial_basis = blurred(basis, generator);
  config.engine.kind = c.engine;
  config.engine.num_particles = size.particles;
  config.seed = bench::filter_seed(seed);
  Session session(config, blurred(c.truth, generator));
  for (Index t = 0; t < size.length; ++t) session.update(as_span(record.col(t)));
  session.finish();
  const Estimate found = session.model().reported;
  return {values_of(found.prior),
          found.basis.colwise().sum().cwiseQuotient(basis.colwise().sum()).mean(),
          relative_error(found.basis, basis)};
}

std::vector<Result> learn_all(const Case& c, const Size& size) {
  const ThreadPool pool(2);
  std::vector<Result> results(static_cast<std::size_t>(size.sets));
  pool.run(size.sets, [&](Index set) {
    results[set] = learn(c, size, size.first_seed + static_cast<std::uint64_t>(set));
  });
  return results;
}

void print_row(const std::string& prior, const std::string& name, double truth,
               const std::vector<double>& found) {
  const double off = bench::mean(found) - truth;
  const double distance = off / bench::standard_deviation(found);
  fmt::print("{:<23} {:<14} {:8.4f} {:8.4f} {:8.4f} {:8.2f}   {:<8} {:8.2f}\n", prior, name, truth,
             bench::mean(found), bench::standard_deviation(found), distance,
             std::abs(distance) <= 3 ? "yes" : "NO", off / bench::standard_error(found));
}

void print_case(const Case& c, const std::vector<Result>& results) {
  const std::vector<std::string> names = names_of(c.truth);
  const std::vector<double> truth = values_of(c.truth);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    std::vector<double> found;
    for (const Result& result : results) found.push_back(result.parameters[i]);
    print_row(c.name, names[i], truth[i], found);
  }
  std::vector<double> scales;
  std::vector<double> errors;
  for (const Result& result : results) {
    scales.push_back(result.scale);
    errors.push_back(result.error);
  }
  print_row(c.name, "scale of basis", 1, scales);
  fmt::print("{:<23} mean relative error of the basis {:.4f}, largest {:.4f}\n\n", c.name,
             bench::mean(errors), *std::ranges::max_element(errors));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Size size;
  size.sets = argc > 1 ? std::atoi(argv[1]) : 10;
  size.length = argc > 2 ? std::atol(argv[2]) : 20000;
  size.particles = argc > 3 ? std::atol(argv[3]) : 500;
  size.first_seed = static_cast<std::uint64_t>(argc > 4 ? std::atol(argv[4]) : 1);
  size.scale = argc > 5 ? std::atof(argv[5]) : 10;
  const std::string wanted = argc > 6 ? argv[6] : "";
  fmt::print("Joint learning, T = {}, {} particles, {} data sets from seed {}\n\n", size.length,
             size.particles, size.sets, size.first_seed);
  fmt::print("{:<23} {:<14} {:>8} {:>8} {:>8} {:>8}   {} {:>8}\n", "prior", "", "truth", "mean",
             "s.d.", "off/s.d.", "within 3", "of mean");
  for (const Case& c : cases()) {
    if (std::string(c.name).find(wanted) != std::string::npos) print_case(c, learn_all(c, size));
  }
}
