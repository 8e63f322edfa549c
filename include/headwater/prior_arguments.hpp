#pragma once

#include <cstdint>
#include <memory>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/random.hpp"
#include "headwater/state_archive.hpp"

// The arguments of a prior's functions: blocks of particles with their random numbers, the moments
// of moves, and guides.

namespace headwater {

// The states of a block of particles: one row per particle and one column per element of the state,
// so that loops over particles run through contiguous memory.
using States = Eigen::Ref<Matrix>;
using ConstStates = const Eigen::Ref<const Matrix>&;

// Row i of a block of states, or its only row, which is paired with every row of the other block.
inline auto paired_row(ConstStates states, Index i) {
  return states.row(states.rows() == 1 ? 0 : i);
}

// Random numbers for a block of particles at one time. Every particle has its own generator, so the
// division of particles into blocks changes no bit.
struct RandomBlock {
  const RandomStream& stream;
  std::uint64_t time;
  std::uint32_t first_particle;
  Purpose purpose;

  Generator particle(Index i) const {
    return stream.at(time, first_particle + static_cast<std::uint32_t>(i), purpose);
  }
};

// The mean and variance of a component's next state, both affine in the previous state:
//   E[s | s'] = intercept + slope s',   Var[s | s'] = noise + noise_slope s',
// K numbers each. The state is either the activation, approximately gamma distributed, or its
// logarithm, approximately normal.
struct AffineMoments {
  bool is_logarithmic = false;
  Vector intercept;
  Vector slope;  // inside (-1, 1)
  Vector noise;
  Vector noise_slope;

  // Moments of the stationary distribution.
  Vector mean() const { return intercept.array() / (1 - slope.array()); }
  Vector variance() const {
    return (noise.array() + noise_slope.array() * mean().array()) / (1 - slope.array().square());
  }
};

// Expected moments of one transition of each component, from state s' to state s; K numbers each.
struct ExpectedMoves {
  void exchange(StateArchive& archive) {
    archive(before, after, before_square, after_square, product, log_after);
  }

  Vector before;         // E[s']
  Vector after;          // E[s]
  Vector before_square;  // E[s'^2]
  Vector after_square;   // E[s^2]
  Vector product;        // E[s' s]
  Vector log_after;      // E[log s], if the state is the activation
};

// A guided proposal: particles move by the transition density f of the prior and one observation. A
// function g~ of the state, the same for all particles, approximates the likelihood. It has a form
// for which the product f g~ can be integrated and drawn from. The closer g~ is to the likelihood,
// the more even are the weights of the particles. The estimates are correct whatever g~ is.
//
// In all functions, a row is a particle. If `previous` has no rows, f is the law of the first
// state, and log_worths() computes one number.
class HEADWATER_EXPORT Guide {
 public:
  virtual ~Guide() = default;
  virtual std::unique_ptr<Guide> clone() const = 0;

  // out(i) = log C_i, where C_i is the integral of f(x | previous_i) g~(x).
  virtual void log_worths(ConstStates previous, Eigen::Ref<Vector> out) const = 0;
  // Draws next_i from f(x | previous_i) g~(x) / C_i.
  virtual void draw(const RandomBlock& random, ConstStates previous, States next) const = 0;
  // out(i) = log g~(state_i).
  virtual void log_values(ConstStates states, Eigen::Ref<Vector> out) const = 0;

  // Draws next_i near state_i, by a move that is reversible with respect to
  // f(x | previous_i) g~(x) / C_i. step, in (0, 1], says how far; 1 is an independent draw, which
  // is also the default for every step.
  virtual void draw_near(const RandomBlock& random, ConstStates previous, double /*step*/,
                         ConstStates /*states*/, States next) const {
    draw(random, previous, next);
  }
};

// A guide whose columns of the state are independent given the previous state. draw_near() draws a
// fraction `step` of each particle's columns anew and keeps the others.
class HEADWATER_EXPORT ColumnwiseGuide : public Guide {
 public:
  void draw_near(const RandomBlock& random, ConstStates previous, double step, ConstStates states,
                 States next) const final;
};

}  // namespace headwater
