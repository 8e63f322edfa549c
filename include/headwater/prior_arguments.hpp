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

// The moves of a prior f together with one observation. A function g~ of the state stands for the
// likelihood, the same for all particles, of a form that f can be multiplied by and integrated. How
// near it comes to the likelihood decides how evenly particles will weigh; what they estimate is
// right whatever it is.
//
// In all functions, one row a particle. `previous` without rows stands for no state before: f is
// then the law of the first state, and there is one worth.
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

  // Draws next_i near state_i so that, where state_i is a draw of f(x | previous_i) g~(x) / C_i,
  // the pair is as probable the other way round. step, in (0, 1]: how far; 1: a draw of its own,
  // which is also what a guide does that knows no nearer ones.
  virtual void draw_near(const RandomBlock& random, ConstStates previous, double /*step*/,
                         ConstStates /*states*/, States next) const {
    draw(random, previous, next);
  }
};

// One whose columns are independent given the state before. Near a state is then what has most of
// its columns: all of each particle's but for a part `step` of them.
class HEADWATER_EXPORT ColumnwiseGuide : public Guide {
 public:
  void draw_near(const RandomBlock& random, ConstStates previous, double step, ConstStates states,
                 States next) const final;
};

}  // namespace headwater
