#include "headwater/models/guides/relaxed_guide.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/uniform_block.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace {

constexpr int kCells = DistanceCells::kCount;
// Cells that make a level of the mean field.
constexpr Index kGrouped = 8;

constexpr double kSmallProduct = 1e-100;

// Of the function, beside its largest; times a width and a product as small as that it still has
// all its digits.
constexpr double kLeastLogValue = -460;  // e^-460 is 1e-200

// The stationary law of one side, of density proportional to d^-alpha (1 - d)^-(1 - alpha): with
// t = d^(1 - alpha) it is (1 - d)^-(1 - alpha) dt, which is all but constant in a cell.
Vector stationary_masses(double alpha) {
  const auto height = [&](double t) {
    return std::pow(1 - std::pow(t, 1 / (1 - alpha)), -(1 - alpha));
  };
  Vector masses(kCells);
  double before = 0;
  for (int j = 0; j < kCells; ++j) {
    const double after = std::pow(DistanceCells::edge(j + 1), 1 - alpha);
    masses[j] =
        (after - before) / 6 * (height(before) + 4 * height((before + after) / 2) + height(after));
    before = after;
  }
  return masses / masses.sum() / 2;
}

// x at the middle of each cell, in the order of RelaxedTable.
const Matrix& cell_middles() {
  static const Matrix middles = [] {
    Matrix all(2 * kCells, 1);
    for (int j = 0; j < kCells; ++j) {
      all(j, 0) = DistanceCells::middle(j);
      all(kCells + j, 0) = 1 - DistanceCells::middle(j);
    }
    return all;
  }();
  return middles;
}

// Where the likelihood is computed.
const Vector& nodes() {
  static const Vector all = [] {
    constexpr int kStride = 8;
    Vector x(2 * kCells / kStride);
    for (int n = 0; n < kCells / kStride; ++n) {
      x[n] = DistanceCells::middle(n * kStride);
      x[x.size() - 1 - n] = 1 - x[n];
    }
    return x;
  }();
  return all;
}

struct CellLengths {
  std::array<double, kCells> width, inverse_distance, inverse_rest;

  CellLengths() {
    for (int j = 0; j < kCells; ++j) {
      width[j] = DistanceCells::width(j);
      inverse_distance[j] = 1 / DistanceCells::middle(j);
      inverse_rest[j] = 1 / (1 - DistanceCells::middle(j));
    }
  }
};

// How much of the law after the move lies in each cell. What moves is put in the middle of its
// cell.
const Vector& predicted_masses(double alpha, const Eigen::Ref<const Vector>& states,
                               const Eigen::Ref<const Vector>& weights) {
  thread_local Vector now;
  thread_local Vector next;
  now.setZero(2 * kCells);
  thread_local std::vector<std::int32_t> cells;
  cells.resize(static_cast<std::size_t>(states.size()));
  relaxed_cells(as_span(states), cells);
  for (Index i = 0; i < states.size(); ++i) now[cells[i]] += weights[i];
  // A move towards the edge, or away, is uniform over as long a piece as these are the inverse of.
  static const CellLengths lengths;
  next.setZero(2 * kCells);
  for (const Index own : {0, kCells}) {
    const Index other = kCells - own;
    double towards = 0;  // densities
    for (int j = kCells - 1; j >= 0; --j) {
      const double here = alpha * now[own + j] * lengths.inverse_distance[j];
      next[own + j] += (towards + here / 2) * lengths.width[j];
      towards += here;
    }
    double away = 0;
    for (int j = 0; j < kCells; ++j) {
      const double here = (1 - alpha) * now[own + j] * lengths.inverse_rest[j];
      next[own + j] += (away + here / 2) * lengths.width[j];
      away += here;
    }
    for (int j = 0; j < kCells; ++j) next[other + j] += away * lengths.width[j];
  }
  next /= next.sum();
  return next;
}

void group(const Vector& masses, MeanField::Axis& axis) {
  const Index levels = 2 * kCells / kGrouped;
  axis.levels.resize(levels, 1);
  axis.law.resize(levels);
  for (Index l = 0; l < levels; ++l) {
    const auto mass = masses.segment(l * kGrouped, kGrouped);
    const auto x = cell_middles().col(0).segment(l * kGrouped, kGrouped);
    axis.law[l] = mass.sum();
    axis.levels(l, 0) = axis.law[l] > 0 ? mass.dot(x) / axis.law[l] : x.mean();
  }
}

// Of the function under the stationary law, whose mass in each cell of one side is given.
double initial_worth(const RelaxedTable& table, const Vector& masses) {
  const Eigen::Map<const Vector> values(table.values.data(), 2 * kCells);
  return masses.dot(values.head(kCells) + values.tail(kCells));
}

// The stationary law times the function: a cell by its mass, and a distance in it by rejection from
// what is uniform in t.
class InitialLaw {
 public:
  InitialLaw(const RelaxedTable& table, const Vector& masses) : alpha_(table.alpha) {
    double sum = 0;
    for (int i = 0; i < 2 * kCells; ++i) {
      sum += masses[i % kCells] * table.values[i];
      sums_[i] = sum;
    }
    for (int j = 0; j <= kCells; ++j) {
      t_[j] = std::pow(DistanceCells::edge(j), 1 - alpha_);
      heights_[j] = std::pow(1 - DistanceCells::edge(j), -(1 - alpha_));
    }
  }

  double draw(Generator& generator) const {
    const auto found = std::ranges::upper_bound(sums_, generator.uniform() * sums_.back());
    const auto cell = std::min<std::ptrdiff_t>(found - sums_.begin(), 2 * kCells - 1);
    const double d = draw_distance(generator, static_cast<int>(cell) % kCells);
    return std::copysign(std::max(d, kLeastDistance), cell < kCells ? 1.0 : -1.0);
  }

 private:
  double draw_distance(Generator& generator, int j) const {
    while (true) {
      const double t = t_[j] + (t_[j + 1] - t_[j]) * generator.uniform();
      const double d = std::pow(t, 1 / (1 - alpha_));
      if (generator.uniform() * heights_[j + 1] < std::pow(1 - d, -(1 - alpha_))) return d;
    }
  }

  double alpha_;
  std::array<double, 2 * kCells> sums_;  // of the masses up to each cell
  std::array<double, kCells + 1> t_, heights_;
};

}  // namespace

bool RelaxedGuide::look_at(std::span<const double> alpha, const Evidence& evidence,
                           ConstStates previous, const Eigen::Ref<const Vector>& weights) {
  const auto components = static_cast<Index>(alpha.size());
  tables_.resize(static_cast<std::size_t>(components));
  predicted_.resize(static_cast<std::size_t>(components));
  initial_masses_.clear();
  for (Index k = 0; k < components; ++k) {
    if (previous.rows() == 0) {
      initial_masses_.push_back(stationary_masses(alpha[k]));
      const Vector both = initial_masses_.back().replicate(2, 1);
      group(both, predicted_[k]);
    } else {
      group(predicted_masses(alpha[k], previous.col(k), weights), predicted_[k]);
    }
  }
  mean_field_.fit(evidence, predicted_);
  values_.resize(2 * kCells);
  for (Index k = 0; k < components; ++k) {
    mean_field_.log_profile_between(k, nodes(), cell_middles().col(0), values_);
    const double largest = values_.maxCoeff();
    if (!std::isfinite(largest)) return false;
    values_ = (values_.array() - largest).max(kLeastLogValue);
    tables_[k].set(as_span(values_), alpha[k]);
  }
  return true;
}

// One logarithm for all components, unless their product becomes small.
void RelaxedGuide::log_worths(ConstStates previous, Eigen::Ref<Vector> out) const {
  if (previous.rows() == 0) {
    out.setZero();
    for (std::size_t k = 0; k < tables_.size(); ++k) {
      out.array() += std::log(initial_worth(tables_[k], initial_masses_[k]));
    }
    return;
  }
  thread_local GrowingVector room;
  auto logarithms = room.resize(out.size());
  logarithms.setZero();
  out.setOnes();
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    multiply_relaxed_worths(tables_[k], as_span(previous.col(static_cast<Index>(k))), as_span(out));
    if (out.minCoeff() > kSmallProduct) continue;
    for (Index i = 0; i < out.size(); ++i) {
      if (out[i] > kSmallProduct) continue;
      logarithms[i] += std::log(out[i]);
      out[i] = 1;
    }
  }
  vector_log(as_span(out), as_span(out));
  out += logarithms;
}

void RelaxedGuide::draw(const RandomBlock& random, ConstStates previous, States next) const {
  if (previous.rows() == 0) {
    std::vector<InitialLaw> laws;
    for (std::size_t k = 0; k < tables_.size(); ++k) {
      laws.emplace_back(tables_[k], initial_masses_[k]);
    }
    for (Index i = 0; i < next.rows(); ++i) {
      Generator generator = random.particle(i);
      for (std::size_t k = 0; k < laws.size(); ++k) {
        next(i, static_cast<Index>(k)) = laws[k].draw(generator);
      }
    }
    return;
  }
  uniform_block(random.stream, random.time, random.first_particle, random.purpose, next);
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    const auto column = as_span(next.col(static_cast<Index>(k)));
    guided_relaxed_moves(tables_[k], column, as_span(previous.col(static_cast<Index>(k))), column);
  }
}

void RelaxedGuide::log_values(ConstStates states, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    add_relaxed_log_values(tables_[k], as_span(states.col(static_cast<Index>(k))), as_span(out));
  }
}

}  // namespace headwater
