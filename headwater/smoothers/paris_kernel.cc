#include <algorithm>
#include <cmath>

#include "headwater/random.hpp"
#include "headwater/smoothers/backward_kernel.hpp"

namespace headwater {

namespace {

using Rows = std::vector<Index>;

}  // namespace

// The draws of one chunk of particles, [first, first + size), and room to make them in.
class ChunkOfDraws {
 public:
  void start(const ParticleFilter& filter, const ParticleStep& before, ParticleStep& step,
             const QuantileTable& weights, Index first, Index size, Index num_draws) {
    prior_ = &filter.prior();
    before_ = &before;
    step_ = &step;
    weights_ = &weights;
    first_ = first;
    num_draws_ = num_draws;
    generators_.clear();
    for (Index i = 0; i < size; ++i) {
      generators_.push_back(filter.random().at(filter.time(), static_cast<std::uint32_t>(first + i),
                                               Purpose::backward));
    }
  }

  // The ancestor, then one Metropolis step after the other, each proposing from the weights alone:
  // j' is accepted with probability min(1, f(x_i | x_j') / f(x_i | x_j)).
  void by_mcmc() {
    const Index size = num_particles();
    now_.resize(generators_.size());
    proposed_.resize(generators_.size());
    for (Index i = 0; i < size; ++i) {
      now_[i] = step_->ancestors[first_ + i];
      draw(i, 0) = static_cast<std::int32_t>(now_[i]);
    }
    const auto after = step_->states.middleRows(first_, size);
    log_densities(now_, after, log_now_);
    for (Index r = 1; r < num_draws_; ++r) {
      for (Index i = 0; i < size; ++i) proposed_[i] = from_weights(generators_[i]);
      log_densities(proposed_, after, log_proposed_);
      for (Index i = 0; i < size; ++i) {
        // u < f / f', but for a logarithm where there is no question.
        const double gain = log_proposed_[i] - log_now_[i];
        const double u = generators_[i].uniform();
        if (gain >= 0 || std::log(u) < gain) {
          now_[i] = proposed_[i];
          log_now_[i] = log_proposed_[i];
        }
        draw(i, r) = static_cast<std::int32_t>(now_[i]);
      }
    }
  }

  // j from the weights alone, accepted with probability f(x_i | x_j) / bound(x_i). The particles
  // that are still without go on together, for as many rounds as there are particles to draw from.
  void by_rejection() {
    log_bound_.resize(num_particles());
    prior_->log_transition_bound(step_->states.middleRows(first_, num_particles()), log_bound_);
    for (Index r = 0; r < num_draws_; ++r) {
      waiting_.clear();
      for (Index i = 0; i < num_particles(); ++i) waiting_.push_back(i);
      for (Index trial = 0; trial < before_->weights.size() && !waiting_.empty(); ++trial) {
        draw_waiting_once(r);
      }
      for (const Index i : waiting_) draw_exactly(i, r, r + 1);
    }
  }

  void exactly() {
    for (Index i = 0; i < num_particles(); ++i) draw_exactly(i, 0, num_draws_);
  }

 private:
  Index num_particles() const { return static_cast<Index>(generators_.size()); }
  std::int32_t& draw(Index i, Index r) { return step_->draws[(first_ + i) * num_draws_ + r]; }

  void draw_waiting_once(Index r) {
    proposed_.clear();
    for (const Index i : waiting_) proposed_.push_back(from_weights(generators_[i]));
    gather_rows(step_->states.middleRows(first_, num_particles()), waiting_, to_);
    log_densities(proposed_, to_.topRows(static_cast<Index>(waiting_.size())), log_proposed_);
    std::size_t still_waiting = 0;
    for (std::size_t w = 0; w < waiting_.size(); ++w) {
      const Index i = waiting_[w];
      const double log_u = std::log(generators_[i].uniform());
      if (log_u < log_proposed_[static_cast<Index>(w)] - log_bound_[i]) {
        draw(i, r) = static_cast<std::int32_t>(proposed_[w]);
      } else {
        waiting_[still_waiting++] = i;
      }
    }
    waiting_.resize(still_waiting);
  }

  void draw_exactly(Index i, Index from, Index to) {
    backward_law(*prior_, *before_, step_->states.row(first_ + i), law_);
    for (Index r = from; r < to; ++r) {
      draw(i, r) = static_cast<std::int32_t>(categorical(generators_[i], as_span(law_)));
    }
  }

  Index from_weights(Generator& generator) const {
    return weights_->at(generator.uniform() * weights_->total());
  }

  // log f(x_i | x_j) for particles j of the step before and states x_i.
  void log_densities(const Rows& before, const Eigen::Ref<const Matrix>& after, Vector& out) {
    const auto count = static_cast<Index>(before.size());
    gather_rows(before_->states, before, from_);
    if (out.size() < count) out.resize(count);
    prior_->log_transition(from_.topRows(count), after, out.head(count));
  }

  const AnyPrior* prior_ = nullptr;
  const ParticleStep* before_ = nullptr;
  ParticleStep* step_ = nullptr;
  const QuantileTable* weights_ = nullptr;
  Index first_ = 0;
  Index num_draws_ = 0;
  std::vector<Generator> generators_;
  Rows now_;
  Rows proposed_;
  Rows waiting_;
  Vector log_now_;
  Vector log_proposed_;
  Vector log_bound_;
  Matrix from_;
  Matrix to_;
  Vector law_;
};

ParisKernel::ParisKernel(BackwardDraw draw, Index num_draws) : draw_(draw), num_draws_(num_draws) {}
ParisKernel::~ParisKernel() = default;

std::unique_ptr<BackwardKernel> ParisKernel::clone() const {
  return std::make_unique<ParisKernel>(draw_, num_draws_);
}

void ParisKernel::prepare(const ParticleFilter& filter, const ParticleStep& before,
                          ParticleStep& step) {
  const Index n = step.weights.size();
  step.draws.resize(static_cast<std::size_t>(n * num_draws_));
  weights_.set(as_span(before.weights));
  chunks_.resize(static_cast<std::size_t>((n + kParticleChunk - 1) / kParticleChunk));
  for_each_chunk(filter.pool(), n, kParticleChunk, [&](Index first, Index size, Index number) {
    ChunkOfDraws& chunk = chunks_[static_cast<std::size_t>(number)];
    chunk.start(filter, before, step, weights_, first, size, num_draws_);
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
