#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "headwater/kernels/relaxed_moves.hpp"

namespace headwater {

// Guided transitions of prior 'relaxed-selection' (relaxed_moves.hpp), for one component of each
// particle. The density of a guided transition is proportional to the prior's density times a
// function of the next state. That function is constant on cells, and the prior's density is
// piecewise constant, so a draw needs only integrals of the function from an edge.

// Divides the distances (0, 1/2] to an edge into cells that become narrower towards the edge: cell
// j lies between (j / n)^2 / 2 and ((j + 1) / n)^2 / 2.
struct DistanceCells {
  static constexpr int kCount = 32;
  static constexpr double edge(int j) {
    const double part = static_cast<double>(j) / kCount;
    return part * part / 2;
  }
  static constexpr double middle(int j) { return (edge(j) + edge(j + 1)) / 2; }
  static constexpr double width(int j) { return edge(j + 1) - edge(j); }
};

// The number of cells on both sides: from x = 0 to 1/2, then from x = 1 to 1/2.
inline constexpr int kBothSides = 2 * DistanceCells::kCount;

// The guiding function, with the integrals that its transitions need.
struct RelaxedTable {
  // Sets the function from its kBothSides log-values, and alpha.
  void set(std::span<const double> logarithms, double probability);

  double alpha = 0.5;  // probability of a move towards the edge
  std::array<double, kBothSides> values;
  std::array<double, kBothSides> log_values;
  std::array<double, kBothSides> integrals;  // from the edge to the start of each cell
  std::array<double, 2> totals;              // integral over each side
  std::array<double, 2> scales;              // 1 / (alpha times the value at each edge)
};

// The index, among the cells of both sides, of the cell that contains each state.
void relaxed_cells(std::span<const double> states, std::span<std::int32_t> cells);

// products[i] *= the mean of the function after a move from states[i].
void multiply_relaxed_worths(const RelaxedTable& table, std::span<const double> states,
                             std::span<double> products);

// A guided move of each particle, from one uniform number in (0, 1). `next` may be `uniforms`.
void guided_relaxed_moves(const RelaxedTable& table, std::span<const double> uniforms,
                          std::span<const double> states, std::span<double> next);

// sums[i] += log of the function at states[i].
void add_relaxed_log_values(const RelaxedTable& table, std::span<const double> states,
                            std::span<double> sums);

}  // namespace headwater
