#include "headwater/reference/relaxed_grid.hpp"

#include <cmath>
#include <numbers>

namespace headwater::reference {

namespace {

// Integrates by Simpson's rule in log d.
DistanceCell inner_cell(double lower, double upper, double alpha) {
  constexpr int kIntervals = 32;
  DistanceCell cell{lower, upper};
  const double step = std::log(upper / lower) / kIntervals;
  for (int i = 0; i <= kIntervals; ++i) {
    const double d = lower * std::exp(i * step);
    const double factor = i == 0 || i == kIntervals ? 1 : (i % 2 == 1 ? 4 : 2);
    const double mass = factor * step / 3 * std::pow(d / (1 - d), 1 - alpha);
    cell.mass += mass;
    cell.mean += mass * d;
    cell.mean_inverse += mass / d;
    cell.mean_inverse_far += mass / (1 - d);
  }
  cell.mean /= cell.mass;
  cell.mean_inverse /= cell.mass;
  cell.mean_inverse_far /= cell.mass;
  return cell;
}

// The cell next to the edge, where 1 - d rounds to 1. A chain leaves it at the same rate from every
// point.
DistanceCell cell_at_edge(double upper, double alpha) {
  return {0, upper, std::pow(upper, 1 - alpha) / (1 - alpha), (1 - alpha) / (2 - alpha) * upper,
          0, 1};
}

// From the middle outward, `count` cells and the one at the edge. Cells become wider in -log d,
// because close to the edge activations differ little.
std::vector<DistanceCell> distance_cells(double alpha, Index count) {
  constexpr double kDeepest = 24;  // -log d
  constexpr double kGrowth = 4;    // log of the ratio of the widths of the last and the first cell
  const auto border = [&](Index i) {
    const double part = static_cast<double>(i) / static_cast<double>(count);
    const double depth = std::expm1(kGrowth * part) / std::expm1(kGrowth);
    return std::exp(-std::numbers::ln2 - depth * (kDeepest - std::numbers::ln2));
  };
  std::vector<DistanceCell> cells;
  for (Index i = 0; i < count; ++i) {
    cells.push_back(inner_cell(border(i + 1), border(i), alpha));
  }
  cells.push_back(cell_at_edge(border(count), alpha));
  return cells;
}

}  // namespace

RelaxedGrid::RelaxedGrid(double alpha, Index cells)
    : alpha_(alpha), half_(distance_cells(alpha, cells / 2)) {}

const DistanceCell& RelaxedGrid::cell(Index i) const {
  const Index outward = i < num_half() ? i : size() - 1 - i;
  return half_[static_cast<std::size_t>(outward)];
}

Vector RelaxedGrid::states() const {
  Vector states(size());
  for (Index i = 0; i < size(); ++i) {
    states[i] = i < num_half() ? -cell(i).mean : cell(i).mean;
  }
  return states;
}

Vector RelaxedGrid::edges() const {
  Vector edges(size() - 1);
  edges[num_half() - 1] = 0;
  for (Index i = num_half(); i + 1 < size(); ++i) {
    edges[i] = cell(i).upper;
    edges[size() - 2 - i] = -edges[i];
  }
  return edges;
}

Vector RelaxedGrid::law() const {
  Vector masses(size());
  for (Index i = 0; i < size(); ++i) masses[i] = cell(i).mass;
  return masses / masses.sum();
}

Matrix RelaxedGrid::transition() const {
  Matrix transition(size(), size());
  for (Index i = 0; i < size(); ++i) {
    for (Index j = 0; j < size(); ++j) transition(i, j) = towards(i, j) + away(i, j);
  }
  return transition;
}

double RelaxedGrid::towards(Index i, Index j) const {
  const DistanceCell& from = cell(i);
  if (i == j) return alpha_ * (1 - from.lower * from.mean_inverse);
  if (!same_side(i, j) || cell(j).upper > from.lower) return 0;
  return alpha_ * cell(j).width() * from.mean_inverse;
}

double RelaxedGrid::away(Index i, Index j) const {
  const DistanceCell& from = cell(i);
  if (i == j) return (1 - alpha_) * (1 - (1 - from.upper) * from.mean_inverse_far);
  if (same_side(i, j) && cell(j).upper <= from.lower) return 0;
  return (1 - alpha_) * cell(j).width() * from.mean_inverse_far;
}

}  // namespace headwater::reference
