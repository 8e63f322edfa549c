// How accurate online EM is on the paper's first example, against the maximum-likelihood estimate
// on the same data: M = 8, K = 5, p = .8571 and q = .6926 known, start = truth times exp(.5
// normal). Usage: bench_example1_accuracy [DATA SETS] [T] [FIRST SEED]

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/simulate.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session/session.hpp"

using namespace headwater;

namespace {

constexpr double kStayOff = 0.8571;
constexpr double kStayOn = 0.6926;

struct DataSet {
  Matrix basis;
  Matrix record;
  Matrix start;
};

struct Way {
  const char* name;
  double exponent;
  bool average;
  bool paper_exact;
};

Config config_for(const DataSet& data, const Way& way) {
  Config config;
  config.num_components = data.basis.cols();
  config.initial_basis = data.start;
  config.prior.parameters = {scalar_parameter("stay_off", kStayOff),
                             scalar_parameter("stay_on", kStayOn)};
  config.m_step.held_parameters = {"stay_off", "stay_on"};
  config.step_size = StepSize::power(way.exponent);
  config.average = way.average ? Average::kPolyak : Average::kNone;
  config.paper_exact = way.paper_exact;
  return config;
}

double error_of(const Matrix& estimate, const DataSet& data) {
  return root_mean_square_error(in_order_of(estimate, data.basis), data.basis);
}

double online_error(const DataSet& data, const Way& way) {
  Session session(config_for(data, way));
  for (Index t = 0; t < data.record.cols(); ++t) session.update(as_span(data.record.col(t)));
  session.finish();
  return error_of(session.model().reported.basis, data);
}

// Started at the truth, where the likelihood's highest peak is.
double likelihood_error(const DataSet& data, const AnyPrior& prior) {
  BatchEmOptions options;
  options.max_iterations = 2000;
  options.tolerance = 1e-11;
  options.m_step.held_parameters = {"stay_off", "stay_on"};
  return error_of(batch_em(data.record, {data.basis, prior}, options).estimate.basis, data);
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const int num_sets = argc > 1 ? std::atoi(argv[1]) : 5;
  const Index length = argc > 2 ? std::atol(argv[2]) : 100000;
  const auto first_seed = static_cast<std::uint64_t>(argc > 3 ? std::atol(argv[3]) : 1);
  const std::vector<Way> ways = {
      {"power:0.6, averaged (default)", 0.6, true, false},
      {"power:0.6, last iterate", 0.6, false, false},
      {"power:0.8, averaged", 0.8, true, false},
      {"power:0.8, last iterate", 0.8, false, false},
      {"power:0.8, last iterate, paper-exact", 0.8, false, true},
  };
  const AnyPrior prior(BasisSelection(5, kStayOff, kStayOn));
  std::vector<double> best;
  std::vector<std::vector<double>> errors(ways.size());
  fmt::print(
      "Example 1, T = {}, {} data sets from seed {}: root-mean-square error of the basis\n\n",
      length, num_sets, first_seed);
  for (int set = 0; set < num_sets; ++set) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(set);
    DataSet data;
    data.basis = random_basis(8, 5, 10, seed);
    data.record = reference::simulate_record(prior, data.basis, length, seed);
    data.start = reference::perturbed(data.basis, 0.5, seed);
    best.push_back(likelihood_error(data, prior));
    for (std::size_t i = 0; i < ways.size(); ++i) {
      errors[i].push_back(online_error(data, ways[i]));
    }
  }
  fmt::print("{:<38} {:>8} {:>8}   {}\n", "", "error", "/ MLE", "each data set / its MLE");
  fmt::print("{:<38} {:8.4f} {:8.3f}\n", "maximum likelihood (batch EM)", root_mean_square(best),
             1.0);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    fmt::print("{:<38} {:8.4f} {:8.3f}  ", ways[i].name, root_mean_square(errors[i]),
               root_mean_square(errors[i]) / root_mean_square(best));
    for (int set = 0; set < num_sets; ++set) fmt::print(" {:.3f}", errors[i][set] / best[set]);
    fmt::print("\n");
  }
}
