#include "headwater/kernels/relaxed_density.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

// Distances down to 1e-300 on both sides; some moves end in their starting state.
Matrix make_states(Index rows, Index cols) {
  Matrix states = Matrix::Random(rows, cols) / 2;
  for (Index i = 0; i < rows; i += 3) states(i, i % cols) = i % 2 == 0 ? 1e-300 : -1e-300;
  for (Index i = 1; i < rows; i += 6) states(i, i % cols) *= 1e-40;
  return states;
}

bool is_towards(double previous, double next) {
  return (previous > 0) == (next > 0) && std::abs(next) <= std::abs(previous);
}

double row_of(const Matrix& states, Index i, Index k) {
  return states(states.rows() == 1 ? 0 : i, k);
}

struct Pairs {
  Matrix previous;
  Matrix next;
};

// Rows paired one to one, one to many and many to one.
std::vector<Pairs> kinds_of_pairs(Index n, Index num_components) {
  const Matrix one = make_states(1, num_components);
  const Matrix many = make_states(n, num_components);
  Matrix others = make_states(n, num_components);
  if (n > 1) others.row(1) = many.row(1);
  return {{many, others}, {one, many}, {many, one}};
}

TEST(RelaxedDensity, EqualsItsDefinition) {
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      for (const Index num_components : {1, 5}) {
        const Vector alpha = Vector::LinSpaced(num_components, 0.3, 0.95);
        const Vector log_towards = alpha.array().log();
        const Vector log_away = (1 - alpha.array()).log();
        for (const auto& [previous, next] : kinds_of_pairs(static_cast<Index>(n), num_components)) {
          if (previous.rows() == 0 || next.rows() == 0) continue;
          std::vector<double> out(n);
          relaxed_log_densities(previous, next, as_span(log_towards), as_span(log_away), out);
          for (std::size_t i = 0; i < n; ++i) {
            double expected = 0;
            for (Index k = 0; k < num_components; ++k) {
              const double from = row_of(previous, static_cast<Index>(i), k);
              const double to = row_of(next, static_cast<Index>(i), k);
              expected += is_towards(from, to)
                              ? std::log(alpha[k]) - std::log(std::abs(from))
                              : std::log(1 - alpha[k]) - std::log(1 - std::abs(from));
            }
            ASSERT_NEAR(out[i], expected, 1e-13 * (1 + std::abs(expected)));
          }
        }
      }
    }
  });
}

TEST(RelaxedDensity, WeightsOfMovesTowards) {
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      for (const Index num_components : {1, 2, 3, 5, 7}) {
        for (const auto& [previous, next] : kinds_of_pairs(static_cast<Index>(n), num_components)) {
          if (previous.rows() == 0 || next.rows() == 0) continue;
          const Vector weights = Vector::Random(static_cast<Index>(n)).cwiseAbs();
          Vector found = Vector::Constant(num_components, -7);
          weights_towards(previous, next, as_span(weights), as_span(found));
          for (Index k = 0; k < num_components; ++k) {
            double expected = 0;
            for (Index i = 0; i < weights.size(); ++i) {
              if (is_towards(row_of(previous, i, k), row_of(next, i, k))) expected += weights[i];
            }
            ASSERT_NEAR(found[k], expected, 1e-12 * expected);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace headwater
