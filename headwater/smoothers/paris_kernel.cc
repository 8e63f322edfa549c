#include <algorithm>
#include <cmath>

#include "headwater/random/distributions.hpp"
#include "headwater/smoothers/backward_kernel.hpp"

namespace headwater {

namespace {

using Rows = std::vector<Index>;

// The draws of one chunk of particles, [first, first + size).
class ChunkOfDraws {
 public:
  ChunkOfDraws(const ParticleFilter& filter, const ParticleStep& before, ParticleStep& step,
               const Vector& cumulated, Index first, Index size, Index num_draws)
      : prior_(filter.prior()),
        before_(before),
        step_(step),
        cumulated_(cumulated),
        first_(first),
        num_draws_(num_draws) {
    for (Index i = 0; i < size; ++i) {
      generators_.push_back(filter.random().at(filter.time(), static_cast<std::uint32_t>(first + i),
                                               Purpose::backward));
    }
  }

  // The ancestor, then one Metropolis step after the other, each proposing from the weights alone:
  // j' is accepted with probability min(1, f(x_i | x_j') / f(x_i | x_j)).
  void by_mcmc() {
    const Index size = num_particles();
    Rows all(generators_.size());
    Rows now(generators_.size());
    Rows proposed(generators_.size());
    for (Index i = 0; i < size; ++i) {
      all[i] = i;
      now[i] = step_.ancestors[first_ + i];
      draw(i, 0) = static_cast<std::int32_t>(now[i]);
    }
    Vector log_now = log_densities(now, all);
    for (Index r = 1; r < num_draws_; ++r) {
      for (Index i = 0; i < size; ++i) proposed[i] = from_weights(generators_[i]);
      const Vector log_proposed = log_densities(proposed, all);
      for (Index i = 0; i < size; ++i) {
        const double log_u = std::log(generators_[i].uniform());
        if (log_u < log_proposed[i] - log_now[i]) {
          now[i] = proposed[i];
          log_now[i] = log_proposed[i];
        }
        draw(i, r) = static_cast<std::int32_t>(now[i]);
      }
    }
  }

  // j from the weights alone, accepted with probability f(x_i | x_j) / bound(x_i). The particles
  // that are still without go on together, for as many rounds as there are particles to draw from.
  void by_rejection() {
    Vector log_bound(num_particles());
    prior_.log_transition_bound(step_.states.middleRows(first_, num_particles()), log_bound);
    for (Index r = 0; r < num_draws_; ++r) {
      Rows waiting;
      for (Index i = 0; i < num_particles(); ++i) waiting.push_back(i);
      for (Index trial = 0; trial < before_.weights.size() && !waiting.empty(); ++trial) {
        Rows proposed;
        for (const Index i : waiting) proposed.push_back(from_weights(generators_[i]));
        const Vector log_density = log_densities(proposed, waiting);
        Rows still_waiting;
        for (std::size_t w = 0; w < waiting.size(); ++w) {
          const Index i = waiting[w];
          const double log_u = std::log(generators_[i].uniform());
          if (log_u < log_density[static_cast<Index>(w)] - log_bound[i]) {
            draw(i, r) = static_cast<std::int32_t>(proposed[w]);
          } else {
            still_waiting.push_back(i);
          }
        }
        waiting = std::move(still_waiting);
      }
      for (const Index i : waiting) {
        backward_law(prior_, before_, step_.states.row(first_ + i), law_);
        draw(i, r) = static_cast<std::int32_t>(categorical(generators_[i], as_span(law_)));
      }
    }
  }

  void exactly() {
    for (Index i = 0; i < num_particles(); ++i) {
      backward_law(prior_, before_, step_.states.row(first_ + i), law_);
      for (Index r = 0; r < num_draws_; ++r) {
        draw(i, r) = static_cast<std::int32_t>(categorical(generators_[i], as_span(law_)));
      }
    }
  }

 private:
  Index num_particles() const { return static_cast<Index>(generators_.size()); }
  std::int32_t& draw(Index i, Index r) { return step_.draws[(first_ + i) * num_draws_ + r]; }

  // The weights, cumulated, end at a total that a product with it cannot exceed; a particle of
  // weight zero is never hit, since its cumulated weight is not above the one before.
  Index from_weights(Generator& generator) const {
    const double point = generator.uniform() * cumulated_[cumulated_.size() - 1];
    const double* begin = cumulated_.data();
    const double* found = std::upper_bound(begin, begin + cumulated_.size() - 1, point);
    return found - begin;
  }

  // log f(x_i | x_j) for pairs of a particle `after` of the chunk and one of the step before.
  Vector log_densities(const Rows& before, const Rows& after) {
    from_ = before_.states(before, Eigen::all);
    to_ = step_.states.middleRows(first_, num_particles())(after, Eigen::all);
    Vector out(from_.rows());
    prior_.log_transition(from_, to_, out);
    return out;
  }

  const AnyPrior& prior_;
  const ParticleStep& before_;
  ParticleStep& step_;
  const Vector& cumulated_;
  Index first_;
  Index num_draws_;
  std::vector<Generator> generators_;
  Matrix from_;
  Matrix to_;
  Vector law_;
};

// Up to the last particle of positive weight: what follows can never be drawn.
Vector cumulated_weights(const Vector& weights) {
  Index last = weights.size() - 1;
  while (last > 0 && !(weights[last] > 0)) --last;
  Vector sums(last + 1);
  double sum = 0;
  for (Index i = 0; i <= last; ++i) sums[i] = sum += weights[i];
  return sums;
}

}  // namespace

void ParisKernel::prepare(const ParticleFilter& filter, const ParticleStep& before,
                          ParticleStep& step) {
  const Index n = step.weights.size();
  step.draws.resize(static_cast<std::size_t>(n * num_draws_));
  const Vector cumulated = cumulated_weights(before.weights);
  for_each_chunk(filter.pool(), n, kParticleChunk, [&](Index first, Index size, Index) {
    ChunkOfDraws chunk(filter, before, step, cumulated, first, size, num_draws_);
    switch (draw_) {
      case BackwardDraw::kMcmc:
        return chunk.by_mcmc();
      case BackwardDraw::kRejection:
        return chunk.by_rejection();
      case BackwardDraw::kExact:
        return chunk.exactly();
    }
  });
}

}  // namespace headwater
