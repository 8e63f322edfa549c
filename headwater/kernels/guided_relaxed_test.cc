#include "headwater/kernels/guided_relaxed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

constexpr int kCells = DistanceCells::kCount;

int cell_of(double state) {
  const double d = std::abs(state);
  int j = 0;
  while (j + 1 < kCells && DistanceCells::edge(j + 1) <= d) ++j;
  return (state > 0 ? 0 : kCells) + j;
}

// A function that is constant on cells, integrated cell by cell.
struct Naive {
  std::vector<double> log_values;
  double alpha;

  double value(double state) const { return std::exp(log_values[cell_of(state)]); }

  // The integral from the edge of a side (1 or -1) up to a distance.
  long double integral(double side, double distance) const {
    long double sum = 0;
    for (int j = 0; j < kCells && DistanceCells::edge(j) < distance; ++j) {
      const double end = std::min(distance, DistanceCells::edge(j + 1));
      sum += std::exp(static_cast<long double>(log_values[(side > 0 ? 0 : kCells) + j])) *
             (static_cast<long double>(end) - DistanceCells::edge(j));
    }
    return sum;
  }

  // The mass of the guided transition from `state` up to `next`, traversed from the own edge to 1/2
  // and then from the other edge to 1/2.
  long double worth_up_to(double state, double next) const {
    const double side = std::copysign(1.0, state);
    const double d = std::abs(state);
    const bool crosses = (next > 0) != (state > 0);
    const double own = crosses ? 0.5 : std::abs(next);
    long double worth = alpha / static_cast<long double>(d) * integral(side, std::min(own, d));
    long double away = std::max(0.0L, integral(side, own) - integral(side, d));
    if (own < d) away = 0;
    if (crosses) away += integral(-side, std::abs(next));
    return worth + (1 - alpha) / (1 - static_cast<long double>(d)) * away;
  }
  long double worth(double state) const { return worth_up_to(state, std::copysign(0.5, -state)); }
};

// A smooth function, or one that changes by a factor of up to e^12 from cell to cell.
Naive random_function(double alpha, double roughness) {
  Generator generator = RandomStream(91).at(0, 0, Purpose::basis);
  Naive function{std::vector<double>(kBothSides), alpha};
  double level = 0;
  for (double& value : function.log_values) {
    level += roughness * (generator.uniform() - 0.5);
    value = level;
  }
  return function;
}

RelaxedTable table_of(const Naive& function) {
  RelaxedTable table;
  table.set(function.log_values, function.alpha);
  return table;
}

struct Particles {
  std::vector<double> uniforms;
  std::vector<double> states;
};

Particles random_particles(std::size_t size) {
  Generator generator = RandomStream(92).at(0, 0, Purpose::basis);
  Particles particles;
  for (std::size_t i = 0; i < size; ++i) {
    particles.uniforms.push_back(generator.uniform());
    const double side = generator.uniform() < 0.5 ? 1 : -1;
    const double power = i % 2 == 0 ? 1 : 30;  // every second one is near an edge
    particles.states.push_back(side * 0.5 * std::pow(generator.uniform(), power));
  }
  particles.states[3] = 0.5;
  particles.states[4] = -0.5;
  particles.states[5] = 1e-280;
  particles.states[6] = DistanceCells::edge(1);
  particles.uniforms[7] = 0x1p-53;
  particles.uniforms[8] = 1 - 0x1p-53;
  return particles;
}

// Runs the check under each instruction set, for several functions and every length.
template <class Check>
void for_each_case(Check check) {
  under_each_instruction_set([&] {
    for (const double alpha : {0.05, 0.5, 0.95}) {
      for (const double roughness : {0.1, 12.0}) {
        const Naive function = random_function(alpha, roughness);
        const RelaxedTable table = table_of(function);
        for (const std::size_t length : lengths_to_try()) check(function, table, length);
      }
    }
  });
}

TEST(GuidedRelaxed, CellsAreThoseOfEachState) {
  under_each_instruction_set([] {
    const Particles particles = random_particles(1100);
    for (const std::size_t length : lengths_to_try()) {
      std::vector<std::int32_t> cells(length + 1, -7);
      relaxed_cells(std::span(particles.states).first(length), std::span(cells).first(length));
      EXPECT_EQ(cells.back(), -7);
      for (std::size_t i = 0; i < length; ++i) EXPECT_EQ(cells[i], cell_of(particles.states[i]));
    }
  });
}

TEST(GuidedRelaxed, WorthsAreIntegrals) {
  const Particles particles = random_particles(1100);
  for_each_case([&](const Naive& function, const RelaxedTable& table, std::size_t length) {
    std::vector<double> products(length + 1, 3);
    multiply_relaxed_worths(table, std::span(particles.states).first(length),
                            std::span(products).first(length));
    EXPECT_EQ(products.back(), 3);
    for (std::size_t i = 0; i < length; ++i) {
      const double expected = static_cast<double>(3 * function.worth(particles.states[i]));
      EXPECT_NEAR(products[i], expected, 1e-13 * expected) << particles.states[i];
    }
  });
}

// The fraction of the mass before a draw must equal the uniform number that it was made from.
// Rounding moves a draw by about 1e-15, where the function may be e^12 times its mean.
TEST(GuidedRelaxed, MovesInvertTheirDistribution) {
  const Particles particles = random_particles(1100);
  for_each_case([&](const Naive& function, const RelaxedTable& table, std::size_t length) {
    std::vector<double> next(length + 1, -7);
    guided_relaxed_moves(table, std::span(particles.uniforms).first(length),
                         std::span(particles.states).first(length), std::span(next).first(length));
    EXPECT_EQ(next.back(), -7);
    for (std::size_t i = 0; i < length; ++i) {
      const double state = particles.states[i];
      ASSERT_GE(std::abs(next[i]), kLeastDistance);
      ASSERT_LE(std::abs(next[i]), 0.5);
      const long double part = function.worth_up_to(state, next[i]) / function.worth(state);
      EXPECT_NEAR(static_cast<double>(part), particles.uniforms[i], 1e-12)
          << state << " -> " << next[i];
    }
  });
}

// A move towards the edge multiplies the distance by a factor, down to the smallest distances.
TEST(GuidedRelaxed, TinyDistancesKeepTheirDigits) {
  under_each_instruction_set([] {
    const Naive function = random_function(0.95, 0.1);
    const RelaxedTable table = table_of(function);
    for (const double distance : {1e-290, 1e-100, 1e-20}) {
      for (const double state : {distance, -distance}) {
        const double uniform = 0.3;
        double next = 0;
        guided_relaxed_moves(table, {&uniform, 1}, {&state, 1}, {&next, 1});
        const double worth = static_cast<double>(function.worth(state));
        const double part = uniform * worth / (function.alpha * function.value(state));
        ASSERT_LT(part, 1);  // the move must be towards the edge
        EXPECT_NEAR(next / state, part, 1e-14);
      }
    }
  });
}

TEST(GuidedRelaxed, MayTakeThePlaceOfTheUniformNumbers) {
  under_each_instruction_set([] {
    const Particles particles = random_particles(101);
    const RelaxedTable table = table_of(random_function(0.7, 1));
    std::vector<double> next(101);
    guided_relaxed_moves(table, particles.uniforms, particles.states, next);
    std::vector<double> uniforms = particles.uniforms;
    guided_relaxed_moves(table, uniforms, particles.states, uniforms);
    EXPECT_EQ(uniforms, next);
  });
}

TEST(GuidedRelaxed, LogValuesAreThoseOfTheCells) {
  under_each_instruction_set([] {
    const Particles particles = random_particles(1100);
    const Naive function = random_function(0.5, 12);
    const RelaxedTable table = table_of(function);
    for (const std::size_t length : lengths_to_try()) {
      std::vector<double> sums(length + 1, 2);
      add_relaxed_log_values(table, std::span(particles.states).first(length),
                             std::span(sums).first(length));
      EXPECT_EQ(sums.back(), 2);
      for (std::size_t i = 0; i < length; ++i) {
        EXPECT_EQ(sums[i], 2 + function.log_values[cell_of(particles.states[i])]);
      }
    }
  });
}

}  // namespace
}  // namespace headwater
