#pragma once

#include <memory>

#include "headwater/models/random_block.hpp"

namespace headwater {

// The moves of a prior f together with one observation. A function g~ of the state stands for the
// likelihood, the same for all particles, of a form that f can be multiplied by and integrated. How
// near it comes to the likelihood decides how evenly particles will weigh; what they estimate is
// right whatever it is.
//
// In all functions, one row a particle. `previous` without rows stands for no state before: f is
// then the law of the first state, and there is one worth.
class Guide {
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
class ColumnwiseGuide : public Guide {
 public:
  void draw_near(const RandomBlock& random, ConstStates previous, double step, ConstStates states,
                 States next) const final;
};

}  // namespace headwater
