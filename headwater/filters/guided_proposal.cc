#include "headwater/filters/guided_proposal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace headwater {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The part of the particles that are drawn from the prior.
constexpr double kDefence = 0.05;

// log(exp(a) + exp(b)), where b is finite; what is no number counts for nothing.
double log_of_sum(double a, double b) {
  if (!(a > -kInfinity)) return b;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

}  // namespace

void GuidedProposal::look_ahead(const AnyPrior& prior, const Evidence& evidence,
                                ConstStates previous, const Eigen::Ref<const Vector>& weights,
                                const ThreadPool& pool) {
  is_guided_ = evidence.any() && prior.guide(evidence, previous, weights, *guide_);
  if (!is_guided_) return;
  ask_for_worths(previous, pool);
  is_guided_ = add_defence(weights);
}

void GuidedProposal::ask_for_worths(ConstStates previous, const ThreadPool& pool) {
  if (previous.rows() == 0) {
    log_worths_.resize(1);
    guide_->log_worths(previous, log_worths_);
    return;
  }
  log_worths_.resize(previous.rows());
  for_each_chunk(pool, previous.rows(), kParticleChunk, [&](Index first, Index size, Index) {
    guide_->log_worths(previous.middleRows(first, size), log_worths_.segment(first, size));
  });
}

// With the constant e / (1 - e) sum_i W_i C_i, a part e of what is drawn is drawn from the prior,
// by the weights alone.
bool GuidedProposal::add_defence(const Eigen::Ref<const Vector>& weights) {
  const bool is_first = weights.size() == 0;
  double largest = -kInfinity;
  for (const double worth : log_worths_) {
    if (worth > largest) largest = worth;
  }
  if (!std::isfinite(largest)) return false;
  double sum = 0;
  for (Index i = 0; i < log_worths_.size(); ++i) {
    if (log_worths_[i] > -kInfinity) {
      sum += (is_first ? 1 : weights[i]) * std::exp(log_worths_[i] - largest);
    }
  }
  if (!(sum > 0)) return false;
  log_defence_ = largest + std::log(sum) + std::log(kDefence / (1 - kDefence));
  for (double& worth : log_worths_) worth = log_of_sum(worth, log_defence_);
  return true;
}

void GuidedProposal::draw(const AnyPrior& prior, const RandomBlock& random, ConstStates parents,
                          std::span<const std::int32_t> ancestors, States next) const {
  if (!is_guided_) {
    PriorProposal().draw(prior, random, parents, ancestors, next);
    return;
  }
  guide_->draw(random, parents, next);
  redraw_defence(prior, random, parents, ancestors, next);
}

// Those particles whose share of their worth is the constant's are drawn from the prior after all:
// together, with the random numbers of the first of the block.
void GuidedProposal::redraw_defence(const AnyPrior& prior, RandomBlock random, ConstStates parents,
                                    std::span<const std::int32_t> ancestors, States next) const {
  thread_local std::vector<Index> chosen;
  thread_local Matrix their_parents;
  thread_local Matrix drawn;
  chosen.clear();
  random.purpose = Purpose::defence_choices;
  for (Index i = 0; i < next.rows(); ++i) {
    const double log_worth = log_worths_[parents.rows() == 0 ? 0 : ancestors[i]];
    if (random.particle(i).uniform() < std::exp(log_defence_ - log_worth)) chosen.push_back(i);
  }
  if (chosen.empty()) return;
  const auto count = static_cast<Index>(chosen.size());
  if (drawn.rows() < next.rows() || drawn.cols() != next.cols()) {
    drawn.resize(next.rows(), next.cols());
    their_parents.resize(next.rows(), next.cols());
  }
  const Index num_parents = parents.rows() == 0 ? 0 : count;
  for (Index k = 0; k < next.cols(); ++k) {
    for (Index j = 0; j < num_parents; ++j) their_parents(j, k) = parents(chosen[j], k);
  }
  random.purpose = Purpose::defences;
  PriorProposal().draw(prior, random, their_parents.topRows(num_parents), {}, drawn.topRows(count));
  for (Index k = 0; k < next.cols(); ++k) {
    for (Index j = 0; j < count; ++j) next(chosen[j], k) = drawn(j, k);
  }
}

void GuidedProposal::log_values(ConstStates states, Eigen::Ref<Vector> out) const {
  guide_->log_values(states, out);
  for (double& value : out) value = log_of_sum(value, log_defence_);
}

}  // namespace headwater
