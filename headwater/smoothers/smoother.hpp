#pragma once

#include <memory>

#include "headwater/emission.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

class ExactFilter;
class ParticleFilter;

// Statistics of the right size, all zero.
inline Statistics statistics_for(const Emission& emission, Index num_prior_statistics) {
  Statistics statistics(emission.basis().rows(), emission.num_columns(), num_prior_statistics,
                        emission.law()->num_statistics(emission.num_channels()));
  for (const Matrix& profile : emission.season().profiles()) {
    statistics.phases.emplace_back(profile.rows(), profile.cols());
  }
  return statistics;
}

// Follows a filter and keeps the discounted averages of the expected statistics,
//   S_t = (1 - gamma_t) S_t-1 + gamma_t E[s_t | data].
template <class Filter>
class Smoother {
 public:
  virtual ~Smoother() = default;

  // Takes in the step that the filter has just made. True when the statistics have changed.
  virtual bool advance(const Filter& filter, const Observation& y, double step_size) = 0;
  // Takes in what is still held back. True when the statistics have changed.
  virtual bool finish(const Filter& filter) = 0;
  // After finish(): the next step begins a new sequence, and nothing leads to it.
  virtual void restart() = 0;

  virtual const Statistics& statistics() const = 0;
  // The same, for the learner to rewrite; null where they are not kept in one place.
  virtual Statistics* mutable_statistics() { return nullptr; }
  virtual std::unique_ptr<Smoother> clone() const = 0;
  // filter: the one that it follows, already restored where the archive is read.
  virtual void exchange(StateArchive& archive, const Filter& filter) = 0;
};

using ExactSmoother = Smoother<ExactFilter>;  // AdjointWindow, ForwardRecursion
// LagWindow, ParticleWindow, PathWindow, PathRecursion
using ParticleSmoother = Smoother<ParticleFilter>;

}  // namespace headwater
