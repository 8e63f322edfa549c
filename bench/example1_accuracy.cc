// The accuracy of online EM on the paper's first example, compared with the maximum-likelihood
// estimate on the same data and the Cramer-Rao bound. M = 8, K = 5, p = .8571 and q = .6926 known,
// start = truth times exp(.5 normal) unless a row says otherwise.
//   Usage: bench_example1_accuracy [DATA SETS] [T] [FIRST SEED]

#include <fmt/format.h>

#include <Eigen/Cholesky>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

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
  double exponent;  // 0: the default
  bool average;
  bool paper_exact;
  bool knows_nothing;  // automatic start, p and q learned too
};

// The results of one data set.
struct Errors {
  double bound;
  double likelihood;
  std::vector<double> online;  // one for each method
};

Config config_for(const DataSet& data, const Way& way) {
  Config config;
  config.num_components = data.basis.cols();
  if (!way.knows_nothing) {
    config.initial_basis = data.start;
    config.prior.parameters = {scalar_parameter("stay_off", kStayOff),
                               scalar_parameter("stay_on", kStayOn)};
    config.m_step.held_parameters = {"stay_off", "stay_on"};
  }
  if (way.exponent > 0) config.step_size = StepSize::power(way.exponent);
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

// Starts at the truth, to reach the highest peak of the likelihood.
double likelihood_error(const DataSet& data, const AnyPrior& prior) {
  BatchEmOptions options;
  options.max_iterations = 2000;
  options.tolerance = 1e-11;
  options.m_step.held_parameters = {"stay_off", "stay_on"};
  return error_of(batch_em(Record(data.record), {data.basis, prior}, options).estimate.basis, data);
}

// The score of a basis: the derivative of the log-likelihood, by Fisher's identity.
Vector score(const DataSet& data, const AnyPrior& prior, const Matrix& basis) {
  const Statistics mean =
      ExactBatch(prior.finite_chain(), basis, Record(data.record)).statistics(false);
  const Matrix derivative = (mean.s2.cwiseQuotient(basis).rowwise() - mean.s1.transpose()) *
                            static_cast<double>(data.record.cols());
  return derivative.reshaped();
}

// Root mean square of the standard errors from the inverse of the observed information, computed by
// central differences of the score at the truth.
double cramer_rao_error(const DataSet& data, const AnyPrior& prior) {
  const Index size = data.basis.size();
  Matrix information(size, size);
  for (Index i = 0; i < size; ++i) {
    const double step = 1e-4 * data.basis.mean();
    Matrix above = data.basis;
    Matrix below = data.basis;
    above.reshaped()(i) += step;
    below.reshaped()(i) -= step;
    information.col(i) = (score(data, prior, below) - score(data, prior, above)) / (2 * step);
  }
  const Matrix symmetric = (information + information.transpose()) / 2;
  const Matrix covariance = symmetric.llt().solve(Matrix::Identity(size, size));
  return std::sqrt(covariance.diagonal().mean());
}

std::vector<Way> ways() {
  return {
      {"power:0.6, averaged (default)", 0.6, true, false, false},
      {"default, nothing known", 0, true, false, true},
      {"power:0.6, last iterate", 0.6, false, false, false},
      {"power:0.8, averaged", 0.8, true, false, false},
      {"power:0.8, last iterate", 0.8, false, false, false},
      {"power:0.8, last iterate, paper-exact", 0.8, false, true, false},
  };
}

Errors errors_of(Index length, std::uint64_t seed) {
  const AnyPrior prior(BasisSelection(5, kStayOff, kStayOn));
  DataSet data;
  data.basis = random_basis(8, 5, 10, seed);
  data.record = reference::simulate_record(prior, data.basis, length, seed);
  data.start = reference::perturbed(data.basis, 0.5, seed);
  Errors errors{cramer_rao_error(data, prior), likelihood_error(data, prior), {}};
  for (const Way& way : ways()) errors.online.push_back(online_error(data, way));
  return errors;
}

// `error_of_set` selects the error that the row shows.
void print_row(const char* name, const std::vector<Errors>& sets,
               const std::function<double(const Errors&)>& error_of_set) {
  std::vector<double> errors, likelihoods, bounds;
  for (const Errors& set : sets) {
    errors.push_back(error_of_set(set));
    likelihoods.push_back(set.likelihood);
    bounds.push_back(set.bound);
  }
  const double error = bench::root_mean_square(errors);
  fmt::print("{:<38} {:8.4f} {:8.3f} {:8.3f}  ", name, error,
             error / bench::root_mean_square(likelihoods), error / bench::root_mean_square(bounds));
  for (std::size_t set = 0; set < sets.size(); ++set) {
    fmt::print(" {:.3f}", errors[set] / likelihoods[set]);
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int num_sets = argc > 1 ? std::atoi(argv[1]) : 5;
  const Index length = argc > 2 ? std::atol(argv[2]) : 100000;
  const auto first_seed = static_cast<std::uint64_t>(argc > 3 ? std::atol(argv[3]) : 1);
  fmt::print(
      "Example 1, T = {}, {} data sets from seed {}: root-mean-square error of the basis\n\n",
      length, num_sets, first_seed);
  const ThreadPool pool(2);
  std::vector<Errors> sets(static_cast<std::size_t>(num_sets));
  pool.run(num_sets, [&](Index set) {
    sets[set] = errors_of(length, first_seed + static_cast<std::uint64_t>(set));
  });
  fmt::print("{:<38} {:>8} {:>8} {:>8}   {}\n", "", "error", "/ MLE", "/ bound",
             "each data set / its MLE");
  print_row("Cramer-Rao bound", sets, [](const Errors& set) { return set.bound; });
  print_row("maximum likelihood (batch EM)", sets,
            [](const Errors& set) { return set.likelihood; });
  for (std::size_t i = 0; i < ways().size(); ++i) {
    print_row(ways()[i].name, sets, [i](const Errors& set) { return set.online[i]; });
  }
}
