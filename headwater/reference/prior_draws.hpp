#pragma once

#include <cmath>
#include <cstdint>

#include "headwater/any_prior.hpp"

// Draws from priors for their tests.
namespace headwater::reference {

inline double parameter(const AnyPrior& prior, const char* name, Index entry = 0) {
  const Parameters parameters = prior.parameters();
  return find_parameter(parameters, name)->value(entry);
}

// Draws of the state after `moves` transitions, one row per particle.
inline Matrix draw(const AnyPrior& prior, Index particles, int moves) {
  const RandomStream random(2026);
  Matrix now(particles, prior.state_size());
  Matrix next = now;
  prior.sample_initial({random, 1, 0, Purpose::initial_state}, now);
  for (int t = 0; t < moves; ++t) {
    prior.sample_transition({random, static_cast<std::uint64_t>(t) + 2, 0, Purpose::transition},
                            now, next);
    now.swap(next);
  }
  return now;
}

inline Matrix move_on(const AnyPrior& prior, const Matrix& previous) {
  Matrix next(previous.rows(), previous.cols());
  prior.sample_transition({RandomStream(7), 99, 0, Purpose::transition}, previous, next);
  return next;
}

// The summed statistics of the transitions from `previous` to `next`, each with weight 1.
inline Vector statistics(const AnyPrior& prior, const Matrix& previous, const Matrix& next) {
  Vector sums = Vector::Zero(prior.num_statistics());
  prior.add_statistics(previous, next, Vector::Ones(next.rows()), as_span(sums));
  return sums;
}

struct Moments {
  double mean, standard_error;
};

inline Moments moments_of(const Vector& sample) {
  const auto n = static_cast<double>(sample.size());
  const double variance = (sample.array() - sample.mean()).square().sum() / (n - 1);
  return {sample.mean(), std::sqrt(variance / n)};
}

}  // namespace headwater::reference
