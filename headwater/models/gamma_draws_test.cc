#include "headwater/models/gamma_draws.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

// The probability that correct draws fail one check, over random seeds.
constexpr double kAlarmRate = 1e-6;

// P(x <= c) for a transition: the mixture over h ~ Poisson(mean) of gamma distributions of shape +
// h.
double cdf_of_move(double shape, double rate, double mean, double c) {
  if (mean == 0) return reference::gamma_cdf(shape, rate * c);
  double sum = 0;
  const double most = mean + 10 * std::sqrt(mean) + 30;
  for (double h = 0; h < most; ++h) {
    const double probability = std::exp(log_poisson_probability(h, mean));
    if (probability > 1e-12) sum += probability * reference::gamma_cdf(shape + h, rate * c);
  }
  return sum;
}

std::vector<double> sorted_moves(const GammaPrior& prior, double previous, Index count,
                                 std::uint64_t time) {
  Matrix next(count, 1);
  prior.sample_transition({RandomStream(12), time, 0, Purpose::transition},
                          Matrix::Constant(count, 1, previous), next);
  std::vector<double> sample(next.data(), next.data() + count);
  std::sort(sample.begin(), sample.end());
  return sample;
}

// Cell edges come from a separate sample, so that all cells expect about equally many draws.
void expect_law(double shape, double persistence, double previous) {
  constexpr int kCells = 20;
  const GammaPrior prior(1, shape, persistence);
  const double rate = shape / (1 - persistence);
  const auto cdf = [&](double x) {
    return cdf_of_move(shape, rate, persistence * rate * previous, x);
  };
  const std::vector<double> edges =
      reference::cell_edges(sorted_moves(prior, previous, 1000, 1), kCells);
  EXPECT_LT(reference::chi_square_statistic(sorted_moves(prior, previous, 20000, 2), edges, cdf),
            reference::chi_square_critical(kCells - 1, kAlarmRate))
      << shape << ' ' << persistence << ' ' << previous;
}

// Shapes around one degree of freedom, where the algorithm changes, and around 1 1/2, where that of
// the central part changes.
TEST(GammaMoves, AreOfTheirLaw) {
  for (const double shape : {0.05, 0.5, 0.501, 0.7, 1.49, 1.5, 2.0, 40.0}) {
    for (const double persistence : {0.3, 0.9}) {
      for (const double previous : {0.0, 0.1, 1.0, 5.0}) expect_law(shape, persistence, previous);
    }
  }
}

GammaPrior mixed_prior() {
  const Vector shapes = (Vector(4) << 0.3, 0.8, 0.8, 3).finished();
  return {4, shapes, Vector::Constant(1, 0.8)};
}

TEST(GammaMoves, AreTheSameHoweverParticlesAreCutIntoBlocks) {
  under_each_instruction_set([] {
    constexpr Index kParticles = 700;
    const RandomStream random(13);
    const GammaPrior prior = mixed_prior();
    const Matrix previous = Matrix::Ones(kParticles, 4);
    Matrix whole(kParticles, 4);
    prior.sample_transition({random, 5, 0, Purpose::transition}, previous, whole);
    for (const Index size : {1, 3, 512}) {
      Matrix parts(kParticles, 4);
      for (Index first = 0; first < kParticles; first += size) {
        const Index rows = std::min(size, kParticles - first);
        const RandomBlock block{random, 5, static_cast<std::uint32_t>(first), Purpose::transition};
        prior.sample_transition(block, previous.middleRows(first, rows),
                                parts.middleRows(first, rows));
      }
      EXPECT_EQ(parts, whole);
    }
  });
}

// Includes the draws that were repeated after a rejection; there are some hundreds.
TEST(GammaMoves, AreAllDrawnFromOtherNumbers) {
  constexpr Index kParticles = 4000;
  const GammaPrior prior = mixed_prior();
  Matrix next(kParticles, 4);
  prior.sample_transition({RandomStream(14), 5, 0, Purpose::transition},
                          Matrix::Ones(kParticles, 4), next);
  std::vector<double> sorted(next.data(), next.data() + next.size());
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
}

}  // namespace
}  // namespace headwater
