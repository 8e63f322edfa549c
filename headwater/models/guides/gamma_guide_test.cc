#include "headwater/models/guides/gamma_guide.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/core/special.hpp"
#include "headwater/kernels/test_support.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

// Chance that right draws fail one check, were the seed drawn at random.
constexpr double kAlarmRate = 1e-6;

struct Case {
  GammaChain chain;
  double a, b;
  double previous;
};

// Means of the count from 0 to 1,800, where terms of its series are no numbers any more; shapes
// below 1 with and without what is added to them.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const GammaChain& chain : {GammaChain{0.3, 1, 0.5}, GammaChain{2, 10, 8}}) {
    for (const double previous : {0.0, 0.2, 1.0, 6.0}) {
      for (const double a : {0.0, 5.3}) {
        all.push_back({chain, a, 3, previous});
        all.push_back({chain, a, -0.5 * chain.rate, previous});
      }
    }
  }
  all.push_back({{2, 2000, 1800}, 40, 100, 1});
  return all;
}

// The logarithms of P(h | x') times the integral of Gamma(x; shape + h, rate) x^a exp(-b x).
std::vector<double> log_terms(const Case& c) {
  const double mean = c.chain.beta * c.previous;
  std::vector<double> terms;
  const double most = 4 * mean + 400;
  for (double h = 0; h <= most; ++h) {
    const double log_count = mean > 0 ? h * std::log(mean) - mean - std::lgamma(h + 1)
                                      : (h == 0 ? 0 : -std::numeric_limits<double>::infinity());
    const double shape = c.chain.shape + h;
    terms.push_back(log_count + shape * std::log(c.chain.rate) -
                    (shape + c.a) * std::log(c.chain.rate + c.b) + std::lgamma(shape + c.a) -
                    std::lgamma(shape));
  }
  return terms;
}

double log_sum(const std::vector<double>& terms) {
  const double largest = *std::ranges::max_element(terms);
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum);
}

GuidedGammaMove move_of(const Case& c) {
  GuidedGammaMove move;
  EXPECT_TRUE(move.set(c.chain, c.a, c.b, c.previous));
  return move;
}

std::vector<double> sorted_draws(const Case& c, Index count, std::uint64_t time) {
  const RandomStream random(21);
  const RandomBlock block{random, time, 0, Purpose::transition};
  States uniforms = uniform_numbers(block, count, GuidedGammaMove::kNumbers);
  const std::vector<double> previous(static_cast<std::size_t>(count), c.previous);
  std::vector<double> next(previous.size());
  move_of(c).draw(0, block, uniforms, previous, next);
  std::sort(next.begin(), next.end());
  return next;
}

TEST(GuidedGammaMove, WorthsAreSumsOverTheCounts) {
  for (const Case& c : cases()) {
    double worth = 1.5;
    move_of(c).add_log_worths({&c.previous, 1}, {&worth, 1});
    const double expected = 1.5 + log_sum(log_terms(c));
    EXPECT_NEAR(worth, expected, 1e-11 * (1 + c.chain.beta * c.previous)) << c.previous;
  }
}

// x is a mixture of gamma variables of shape + h + a and rate + b. The mass of a cell is compared
// with that of the draws in it; cells lie between some of other draws.
TEST(GuidedGammaMove, DrawsAreOfTheirLaw) {
  constexpr int kCells = 20;
  for (const Case& c : cases()) {
    const std::vector<double> terms = log_terms(c);
    const double worth = log_sum(terms);
    const auto cdf = [&](double x) {
      double sum = 0;
      for (std::size_t h = 0; h < terms.size(); ++h) {
        const double probability = std::exp(terms[h] - worth);
        const double shape = c.chain.shape + c.a + static_cast<double>(h);
        if (probability > 1e-12) {
          sum += probability * reference::gamma_cdf(shape, (c.chain.rate + c.b) * x);
        }
      }
      return sum;
    };
    const std::vector<double> edges = reference::cell_edges(sorted_draws(c, 1000, 1), kCells);
    EXPECT_LT(reference::chi_square_statistic(sorted_draws(c, 20000, 2), edges, cdf),
              reference::chi_square_critical(kCells - 1, kAlarmRate))
        << c.chain.shape << ' ' << c.a << ' ' << c.b << ' ' << c.previous;
  }
}

// The series are summed for several particles at a time, which may need different lengths.
TEST(GuidedGammaMove, IsTheSameHoweverParticlesAreCutIntoBlocks) {
  under_each_instruction_set([] {
    constexpr Index kParticles = 700;
    const GuidedGammaMove move = move_of({{0.3, 1, 0.5}, 0.2, 0, 100});
    const RandomStream random(22);
    std::vector<double> previous(kParticles);
    for (Index i = 0; i < kParticles; ++i)
      previous[i] = i % 3 == 0 ? 0 : 100 / (1 + static_cast<double>(i % 97));
    const auto run = [&](Index size) {
      std::vector<double> next(kParticles);
      std::vector<double> worths(kParticles);
      for (Index first = 0; first < kParticles; first += size) {
        const Index count = std::min(size, kParticles - first);
        const RandomBlock block{random, 5, static_cast<std::uint32_t>(first), Purpose::transition};
        States uniforms = uniform_numbers(block, count, GuidedGammaMove::kNumbers);
        const auto from = std::span(previous).subspan(first, count);
        move.draw(0, block, uniforms, from, std::span(next).subspan(first, count));
        move.add_log_worths(from, std::span(worths).subspan(first, count));
      }
      return std::pair(next, worths);
    };
    const auto whole = run(kParticles);
    for (const Index size : {1, 3, 512}) EXPECT_EQ(run(size), whole);
  });
}

}  // namespace
}  // namespace headwater
