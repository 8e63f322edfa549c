#include "headwater/inference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

std::vector<double> zero_to(int last) {
  std::vector<double> values(static_cast<std::size_t>(last) + 1);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(TailProbability, IsTheRankAmongDrawsWithTiesAtRandom) {
  std::vector<double> draws = zero_to(98);
  EXPECT_DOUBLE_EQ(tail_probability(50.5, draws, 0.5), (48 + 0.5) / 100);
  EXPECT_DOUBLE_EQ(tail_probability(50, draws, 0.25), (48 + 0.25 * 2) / 100);
  EXPECT_DOUBLE_EQ(tail_probability(-1, draws, 0.5), (99 + 0.5) / 100);
  std::vector<double> equal(99, 7.0);
  EXPECT_DOUBLE_EQ(tail_probability(7, equal, 0.3), 0.3);
}

// Nine of 99 draws lie above the tenth largest, 89; their excesses are 1 to 9.
TEST(TailProbability, GoesOnBeyondTheDraws) {
  std::vector<double> draws = zero_to(98);
  EXPECT_DOUBLE_EQ(tail_probability(90, draws, 0.5), 0.1 * std::pow(1 + 1 / 45.0, -9));
  EXPECT_DOUBLE_EQ(tail_probability(200, draws, 0.5), 0.1 * std::pow(1 + 111 / 45.0, -9));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(tail_probability(infinity, draws, 0.5), 0.5 / 100);
}

ExactEngine exact_filter(const AnyPrior& prior, const Matrix& basis) {
  ExactEngineOptions options;
  options.smoother = ExactEngineOptions::Smoother::kNone;
  return {prior, basis, options};
}

std::vector<double> tails(Engine& engine, const Matrix& record, const Matrix& exposures) {
  TailProbability tail(1);
  std::vector<double> found;
  for (Index t = 0; t < record.cols(); ++t) {
    const Observation y(as_span(record.col(t)), as_span(exposures.col(t)));
    engine.step(y, 0);
    found.push_back(tail(engine, y, t + 1));
  }
  return found;
}

void expect_uniform(std::vector<double> found) {
  EXPECT_LE(std::ranges::count_if(found, [](double p) { return p < 1e-3; }), 15);
  std::ranges::sort(found);
  EXPECT_LT(reference::kolmogorov_statistic(found, [](double p) { return p; }),
            reference::kolmogorov_smirnov_critical(found.size(), 3.5e-7));
}

// Under the model that the data come from the numbers are uniform and independent (the rank of one
// among 200 exchangeable ones), as far as the tail is exponential. Kolmogorov's test at 3.5e-7. How
// often they are below 1/1000, a tenth of the smallest rank: 3 expected in 3000, and more than 15
// with probability 1.2e-7. For two engines a false alarm has probability 1e-6.
TEST(TailProbability, IsUniformWhereTheModelIsRight) {
  const Index length = 3000;
  const Matrix basis = random_basis(6, 3, 4, 5);
  const Matrix exposures = Matrix::Constant(6, length, 1.0);
  {
    const AnyPrior prior(BasisSelection(3, 0.9, 0.8));
    ExactEngine engine = exact_filter(prior, basis);
    const auto found =
        tails(engine, reference::simulate_record(prior, basis, length, 11), exposures);
    expect_uniform(found);
  }
  {
    const AnyPrior prior(LogGaussian(3, 0.8, 0.4));
    ParticleEngineOptions options;
    options.smoother = ParticleEngineOptions::Smoother::kNone;
    ParticleEngine engine(prior, basis, options, std::make_shared<ThreadPool>(1));
    const auto found =
        tails(engine, reference::simulate_record(prior, basis, length, 12), exposures);
    expect_uniform(found);
  }
}

TEST(TailProbability, FindsWhatDoesNotBelong) {
  const AnyPrior prior(BasisSelection(3, 0.9, 0.8));
  const Matrix basis = random_basis(6, 3, 4, 5);
  ExactEngine engine = exact_filter(prior, basis);
  Matrix record = reference::simulate_record(prior, basis, 100, 13);
  record.col(70).array() += 40;
  const auto found = tails(engine, record, Matrix::Ones(6, 100));
  EXPECT_EQ(std::ranges::min_element(found) - found.begin(), 70);
  EXPECT_LT(found[70], 1e-6);
}

}  // namespace
}  // namespace headwater
