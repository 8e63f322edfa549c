#include "headwater/models/relaxed_guide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/relaxed_moves.hpp"
#include "headwater/kernels/uniform_block.hpp"
#include "headwater/random/distributions.hpp"

namespace headwater {

namespace {

constexpr Index kCells = DistanceCells::kCount;
// Cells that make a level of the mean field.
constexpr Index kGrouped = 16;

constexpr double kSmallProduct = 1e-100;

// Of the function, beside its largest; times a width and a product as small as that it still has
// all its digits.
constexpr double kLeastValue = 1e-200;

// The stationary law of one side, of density proportional to d^-alpha (1 - d)^-(1 - alpha): with
// t = d^(1 - alpha) it is (1 - d)^-(1 - alpha) dt, which is all but constant in a cell.
Vector stationary_masses(double alpha) {
  const auto height = [&](double t) {
    return std::pow(1 - std::pow(t, 1 / (1 - alpha)), -(1 - alpha));
  };
  Vector masses(kCells);
  double before = 0;
  for (Index j = 0; j < kCells; ++j) {
    const double after = std::pow(DistanceCells::edge(j + 1), 1 - alpha);
    masses[j] =
        (after - before) / 6 * (height(before) + 4 * height((before + after) / 2) + height(after));
    before = after;
  }
  return masses / masses.sum() / 2;
}

double draw_in_cell(Generator& generator, double alpha, Index cell) {
  const double low = std::pow(DistanceCells::edge(cell), 1 - alpha);
  const double high = std::pow(DistanceCells::edge(cell + 1), 1 - alpha);
  const double most = std::pow(1 - DistanceCells::edge(cell + 1), -(1 - alpha));
  while (true) {
    const double d = std::pow(low + (high - low) * generator.uniform(), 1 / (1 - alpha));
    if (generator.uniform() * most < std::pow(1 - d, -(1 - alpha))) return d;
  }
}

// x at the middle of each cell, in the order of GuidedRelaxedMove::set().
const Matrix& cell_middles() {
  static const Matrix middles = [] {
    Matrix all(2 * kCells, 1);
    for (Index j = 0; j < kCells; ++j) {
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
    constexpr Index kStride = 8;
    Vector x(2 * kCells / kStride);
    for (Index n = 0; n < kCells / kStride; ++n) {
      x[n] = DistanceCells::middle(n * kStride);
      x[x.size() - 1 - n] = 1 - x[n];
    }
    return x;
  }();
  return all;
}

// How much of the law after the move lies in each cell. What moves is put in the middle of its
// cell.
Vector predicted_masses(double alpha, const Eigen::Ref<const Vector>& states,
                        const Eigen::Ref<const Vector>& weights) {
  Vector now = Vector::Zero(2 * kCells);
  for (Index i = 0; i < states.size(); ++i) {
    now[(states[i] > 0 ? 0 : kCells) + DistanceCells::of(std::abs(states[i]))] += weights[i];
  }
  Vector next = Vector::Zero(2 * kCells);
  for (const Index own : {Index{0}, kCells}) {
    const Index other = kCells - own;
    double towards = 0;  // densities
    for (Index j = kCells - 1; j >= 0; --j) {
      const double width = DistanceCells::edge(j + 1) - DistanceCells::edge(j);
      const double d = DistanceCells::middle(j);
      const double here = alpha * now[own + j] / d;
      next[own + j] += towards * width + here * width / 2;
      towards += here;
    }
    double away = 0;
    for (Index j = 0; j < kCells; ++j) {
      const double width = DistanceCells::edge(j + 1) - DistanceCells::edge(j);
      const double here = (1 - alpha) * now[own + j] / (1 - DistanceCells::middle(j));
      next[own + j] += away * width + here * width / 2;
      away += here;
    }
    for (Index j = 0; j < kCells; ++j) {
      next[other + j] += away * (DistanceCells::edge(j + 1) - DistanceCells::edge(j));
    }
  }
  return next / next.sum();
}

MeanField::Axis grouped(const Vector& masses) {
  const Index levels = 2 * kCells / kGrouped;
  MeanField::Axis axis{Matrix(levels, 1), Vector(levels)};
  for (Index l = 0; l < levels; ++l) {
    const auto mass = masses.segment(l * kGrouped, kGrouped);
    const auto x = cell_middles().col(0).segment(l * kGrouped, kGrouped);
    axis.law[l] = mass.sum();
    axis.levels(l, 0) = axis.law[l] > 0 ? mass.dot(x) / axis.law[l] : x.mean();
  }
  return axis;
}

}  // namespace

Index DistanceCells::of(double distance) {
  return std::min(kCount - 1,
                  static_cast<Index>(static_cast<double>(kCount) * std::sqrt(2 * distance)));
}

void GuidedRelaxedMove::set(const Eigen::Ref<const Vector>& values, double alpha) {
  alpha_ = alpha;
  for (std::size_t s = 0; s < 2; ++s) {
    Side& side = sides_[s];
    side.integrals[0] = 0;
    for (Index j = 0; j < kCells; ++j) {
      side.values[j] = values[static_cast<Index>(s) * kCells + j];
      side.log_values[j] = std::log(side.values[j]);
      side.integrals[j + 1] = side.integrals[j] + side.values[j] * (DistanceCells::edge(j + 1) -
                                                                    DistanceCells::edge(j));
    }
  }
}

double GuidedRelaxedMove::Side::integral(double distance) const {
  const Index j = DistanceCells::of(distance);
  return integrals[j] + values[j] * (distance - DistanceCells::edge(j));
}

double GuidedRelaxedMove::Side::inverse_integral(double integral) const {
  Index j = 0;  // the last cell that begins no later; without branches, which would be guesses
  for (Index half = kCells / 2; half > 0; half /= 2)
    j += integrals[j + half] <= integral ? half : 0;
  return std::clamp(DistanceCells::edge(j) + (integral - integrals[j]) / values[j],
                    DistanceCells::edge(j), DistanceCells::edge(j + 1));
}

GuidedRelaxedMove::Parts GuidedRelaxedMove::parts(const Side& own, const Side& other,
                                                  double distance) const {
  const double below = own.integral(distance);
  return {below, alpha_ * below / distance,
          (1 - alpha_) * (own.all() - below + other.all()) / (1 - distance)};
}

double GuidedRelaxedMove::worth(double state) const {
  const Parts both = parts(own_side(state), other_side(state), std::abs(state));
  return both.towards + both.away;
}

double GuidedRelaxedMove::draw(double uniform, double state) const {
  const Side& own = own_side(state);
  const Side& other = other_side(state);
  const double distance = std::abs(state);
  const Parts part = parts(own, other, distance);
  const double point = uniform * (part.towards + part.away);
  if (point < part.towards) {
    const double along = point / part.towards;
    const double next = distance < DistanceCells::edge(1)
                            ? along * distance
                            : std::min(own.inverse_integral(along * part.below), distance);
    return std::copysign(std::max(next, kLeastDistance), state);
  }
  const double beyond = own.all() - part.below;
  const double along = (point - part.towards) / part.away * (beyond + other.all());
  if (along < beyond) {
    return std::copysign(std::max(own.inverse_integral(part.below + along), distance), state);
  }
  return std::copysign(std::max(other.inverse_integral(along - beyond), kLeastDistance), -state);
}

double GuidedRelaxedMove::log_value(double state) const {
  return own_side(state).log_values[DistanceCells::of(std::abs(state))];
}

double GuidedRelaxedMove::initial_worth(const Vector& masses) const {
  double sum = 0;
  for (const Side& side : sides_) {
    for (Index j = 0; j < kCells; ++j) sum += masses[j] * side.values[j];
  }
  return sum;
}

double GuidedRelaxedMove::draw_initial(Generator& generator, const Vector& masses) const {
  std::array<double, 2 * kCells> law;
  for (Index j = 0; j < kCells; ++j) {
    law[j] = masses[j] * sides_[0].values[j];
    law[kCells + j] = masses[j] * sides_[1].values[j];
  }
  const auto cell = static_cast<Index>(categorical(generator, law));
  const double d = draw_in_cell(generator, alpha_, cell % kCells);
  return std::copysign(std::max(d, kLeastDistance), cell < kCells ? 1.0 : -1.0);
}

bool RelaxedGuide::look_at(const Vector& alpha, const SeenChannels& seen, ConstStates previous,
                           const Eigen::Ref<const Vector>& weights) {
  const Index components = alpha.size();
  moves_.resize(static_cast<std::size_t>(components));
  predicted_.resize(static_cast<std::size_t>(components));
  initial_masses_.clear();
  for (Index k = 0; k < components; ++k) {
    if (previous.rows() == 0) {
      initial_masses_.push_back(stationary_masses(alpha[k]));
      const Vector both = initial_masses_.back().replicate(2, 1);
      predicted_[k] = grouped(both);
    } else {
      predicted_[k] = grouped(predicted_masses(alpha[k], previous.col(k), weights));
    }
  }
  mean_field_.fit(seen, predicted_);
  Vector values(2 * kCells);
  for (Index k = 0; k < components; ++k) {
    mean_field_.log_profile_between(k, nodes(), cell_middles().col(0), values);
    const double largest = values.maxCoeff();
    if (!std::isfinite(largest)) return false;
    values = (values.array() - largest).exp().max(kLeastValue);
    moves_[k].set(values, alpha[k]);
  }
  return true;
}

// One logarithm for all components, unless their product becomes small.
void RelaxedGuide::log_worths(ConstStates previous, Eigen::Ref<Vector> out) const {
  if (previous.rows() == 0) {
    out.setZero();
    for (std::size_t k = 0; k < moves_.size(); ++k) {
      out.array() += std::log(moves_[k].initial_worth(initial_masses_[k]));
    }
    return;
  }
  thread_local Vector logarithms;
  logarithms.setZero(out.size());
  out.setOnes();
  for (std::size_t k = 0; k < moves_.size(); ++k) {
    const auto states = previous.col(static_cast<Index>(k));
    for (Index i = 0; i < out.size(); ++i) {
      out[i] *= moves_[k].worth(states[i]);
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
    for (Index i = 0; i < next.rows(); ++i) {
      Generator generator = random.particle(i);
      for (std::size_t k = 0; k < moves_.size(); ++k) {
        next(i, static_cast<Index>(k)) = moves_[k].draw_initial(generator, initial_masses_[k]);
      }
    }
    return;
  }
  uniform_block(random.stream, random.time, random.first_particle, random.purpose, next);
  for (std::size_t k = 0; k < moves_.size(); ++k) {
    const auto states = previous.col(static_cast<Index>(k));
    auto column = next.col(static_cast<Index>(k));
    for (Index i = 0; i < next.rows(); ++i) column[i] = moves_[k].draw(column[i], states[i]);
  }
}

void RelaxedGuide::log_values(ConstStates states, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (std::size_t k = 0; k < moves_.size(); ++k) {
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += moves_[k].log_value(states(i, static_cast<Index>(k)));
    }
  }
}

}  // namespace headwater
