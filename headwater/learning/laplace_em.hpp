#pragma once

#include <deque>

#include "headwater/learning/batch_em.hpp"

namespace headwater {

// A map that is iterated to its fixed point, x <- F(x), faster [Anderson1965]: the next x is the
// combination of the last few F(x) whose changes F(x) - x, combined likewise, are least.
class AndersonSteps {
 public:
  explicit AndersonSteps(std::size_t most) : most_(most) {}

  // After F was applied to x: the next x.
  Vector next(const Vector& x, const Vector& image);
  void forget() { past_.clear(); }

 private:
  struct Pair {
    Vector image;
    Vector change;
  };
  std::size_t most_;
  std::deque<Pair> past_;
};

// EM on a whole record by Laplace's approximation (see LaplacePath). There is no noise in its
// steps, so that they can be combined: where EM alone takes hundreds of iterations, some dozens
// are enough. An iteration that loses log-likelihood is taken back, and EM's own step is made.
//
// Iterates until three iterations in a row have changed it by less than `tolerance` nats.
// The result is the best iterate. Its log-likelihoods are those of the approximation at each best
// one so far, after -infinity. Stops where a number is not finite. Needs
// LaplacePath::is_in_reach(start.prior).
BatchEmResult laplace_em(const RecordView& observations, Estimate start,
                         const BatchEmOptions& options, const OnIteration& on_iteration = {});

}  // namespace headwater
