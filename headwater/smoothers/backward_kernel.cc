#include "headwater/smoothers/backward_kernel.hpp"

#include <cmath>

#include "headwater/kernels/log_weights.hpp"
#include "headwater/kernels/weigh_densities.hpp"

namespace headwater {

void PairStatistics::clear() {
  before_.clear();
  after_.clear();
  weights_.clear();
}

void PairStatistics::add(Index before, Index after, double weight) {
  before_.push_back(before);
  after_.push_back(after);
  weights_.push_back(weight);
}

void PairStatistics::sum(const AnyPrior& prior, const ParticleStep& before,
                         const ParticleStep& step, std::span<double> s3) {
  const auto count = static_cast<Index>(weights_.size());
  if (count == 0) return;
  gather_rows(before.states, before_, before_states_);
  gather_rows(step.states, after_, after_states_);
  const Eigen::Map<const Vector> weights(weights_.data(), count);
  prior.add_statistics(before_states_.topRows(count), after_states_.topRows(count), weights, s3);
}

void DrawnPast::pull_back(const Ancestors& draws, Index num_draws, const ParticleFilter& filter,
                          const ParticleStep& before, const ParticleStep& step, const Vector& law,
                          double coefficient, Vector& before_law, std::span<double> s3) {
  before_law.setZero(before.weights.size());
  pairs_.clear();
  const bool with_moves = !s3.empty() && coefficient > 0;
  for (Index i = 0; i < law.size(); ++i) {
    if (!(law[i] > 0)) continue;
    const double share = law[i] / static_cast<double>(num_draws);
    for (Index r = 0; r < num_draws; ++r) {
      const std::int32_t j = draws[i * num_draws + r];
      before_law[j] += share;
      if (with_moves) pairs_.add(j, i, coefficient * share);
    }
  }
  if (with_moves) pairs_.sum(filter.prior(), before, step, s3);
}

namespace {

// The same where densities are so far apart that the largest belongs to a particle of weight zero
// and leaves nothing of the others, or where none is a number: in logarithms throughout.
void backward_law_of_extremes(const AnyPrior& prior, const ParticleStep& before,
                              const Eigen::Ref<const Matrix>& next, Vector& out) {
  prior.log_transition(before.states, next, out);
  Vector log_law = out.array() + before.weights.array().log();
  out = before.weights;
  normalise_log_weights(as_span(log_law), as_span(out));
}

}  // namespace

void backward_law(const AnyPrior& prior, const ParticleStep& before,
                  const Eigen::Ref<const Matrix>& next, Vector& out) {
  out.resize(before.weights.size());
  prior.log_transition(before.states, next, out);
  if (!weigh_densities(as_span(before.weights), as_span(out))) {
    backward_law_of_extremes(prior, before, next, out);
  }
}

// Chunk by chunk, and the chunks' sums in their order, so that threads change no bit.
void DenseKernel::pull_back(const ParticleFilter& filter, const ParticleStep& before,
                            const ParticleStep& step, const Vector& law, double coefficient,
                            Vector& before_law, std::span<double> s3) {
  constexpr Index kChunk = 32;  // each particle of a chunk costs as much as a whole step
  const Index n = before.weights.size();
  const Index num_chunks = (law.size() + kChunk - 1) / kChunk;
  const bool with_moves = !s3.empty() && coefficient > 0;
  chunk_laws_.setZero(n, num_chunks);
  chunk_statistics_.setZero(with_moves ? static_cast<Index>(s3.size()) : 0, num_chunks);
  for_each_chunk(filter.pool(), law.size(), kChunk, [&](Index first, Index size, Index chunk) {
    Vector row(n);
    Matrix next(1, step.states.cols());
    for (Index i = first; i < first + size; ++i) {
      if (!(law[i] > 0)) continue;
      next = step.states.row(i);
      backward_law(filter.prior(), before, next, row);
      row *= law[i];
      chunk_laws_.col(chunk) += row;
      if (!with_moves) continue;
      row *= coefficient;
      filter.prior().add_statistics(before.states, next, row,
                                    as_span(chunk_statistics_.col(chunk)));
    }
  });
  before_law = chunk_laws_.rowwise().sum();
  for (Index j = 0; j < chunk_statistics_.rows(); ++j) s3[j] += chunk_statistics_.row(j).sum();
}

}  // namespace headwater
