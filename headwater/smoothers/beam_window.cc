#include "headwater/smoothers/beam_window.hpp"

#include <algorithm>

#include "headwater/core/error.hpp"

namespace headwater {

void BeamStep::remember(const BeamFilter& filter, Observation y, double its_step_size) {
  states = filter.states();
  weights = filter.weights();
  chain = filter.chain();
  observation.remember(y);
  step_size = its_step_size;
}

void BeamRetreat::run(const BeamStep& before, const BeamStep& step, const Vector& law,
                      double coefficient, Vector& before_law, std::span<double> moves) {
  const PackedChain& chain = *step.chain;
  const auto num_before = static_cast<Index>(before.states.size());
  before_law.setZero(num_before);
  row_.resize(num_before);
  if (!moves.empty()) pair_moves_.clear(chain);
  for (Index i = 0; i < law.size(); ++i) {
    if (!(law[i] > 0)) continue;
    const PackedState state = step.states[static_cast<std::size_t>(i)];
    chain.transitions_to(state, before.states, as_span(row_));
    row_ = row_.cwiseProduct(before.weights);
    // A state that none of those before leads to says nothing of where it came from.
    const double sum = row_.sum();
    if (sum > 0) {
      row_ *= law[i] / sum;
    } else {
      row_ = law[i] * before.weights;
    }
    before_law += row_;
    if (moves.empty()) continue;
    for (Index j = 0; j < num_before; ++j) {
      if (row_[j] == 0) continue;
      pair_moves_.add(chain, before.states[static_cast<std::size_t>(j)], state,
                      coefficient * row_[j]);
    }
  }
  if (!moves.empty()) pair_moves_.add_to(chain, moves);
}

BeamWindow::BeamWindow(const BeamFilter& filter, const WindowOptions& options, bool with_moves)
    : chain_(filter.chain()),
      options_(options),
      lag_(window_lag(options, filter.chain()->contraction())),
      block_(window_block(options, 0)),
      statistics_(filter.basis().rows(), filter.basis().cols(),
                  with_moves ? filter.chain()->num_moves() : 0) {}

void BeamWindow::exchange(StateArchive& archive) {
  archive(lag_, block_, statistics_, has_entered_);
  archive.count(num_steps_);
  if (static_cast<Index>(steps_.size()) < num_steps_) {
    steps_.resize(static_cast<std::size_t>(num_steps_));
  }
  // Most steps share the chain of the step before.
  std::shared_ptr<const PackedChain> chain;
  for (Index t = 0; t < num_steps_; ++t) {
    BeamStep& step = steps_[static_cast<std::size_t>(t)];
    bool is_new = step.chain != chain || !chain;
    archive(is_new);
    if (is_new) exchange_packed(archive, *chain_, step.chain);
    if (!is_new) step.chain = chain;
    chain = step.chain;
    if (!chain) throw InputError("the saved state has a step without a chain");
    exchange_states(archive, *chain, step.states, step.weights);
    archive(step.observation, step.step_size);
  }
}

bool BeamWindow::advance(const BeamFilter& filter, Observation y, double step_size) {
  if (num_steps_ == static_cast<Index>(steps_.size())) steps_.emplace_back();
  steps_[static_cast<std::size_t>(num_steps_++)].remember(filter, y, step_size);
  if (num_waiting() < lag_ + block_) return false;
  fold(num_waiting() - lag_, filter);
  // As in AdjointWindow: a memory that has become longer is followed over several blocks.
  lag_ = std::min(window_lag(options_, filter.chain()->contraction()), lag_ + block_ / 2);
  block_ = window_block(options_, statistics_.observations);
  return true;
}

bool BeamWindow::finish(const BeamFilter& filter) {
  if (num_waiting() == 0) return false;
  fold(num_waiting(), filter);
  return true;
}

void BeamWindow::fold(Index count, const BeamFilter& filter) {
  const Index first = has_entered_ ? 1 : 0;
  const Index end = first + count;  // of those that enter now
  step_sizes_.clear();
  for (Index t = first; t < end; ++t) {
    step_sizes_.push_back(steps_[static_cast<std::size_t>(t)].step_size);
  }
  enter_observations(step_sizes_, entering_, statistics_);
  law_ = steps_[static_cast<std::size_t>(num_steps_ - 1)].weights;
  for (Index t = num_steps_ - 1; t >= first; --t) {
    const BeamStep& step = steps_[static_cast<std::size_t>(t)];
    const bool enters = t < end;
    const double coefficient = enters ? entering_[static_cast<std::size_t>(t - first)] : 0;
    if (enters) add_emission(step, filter.basis(), coefficient);
    if (t == 0) break;
    retreat_.run(steps_[static_cast<std::size_t>(t - 1)], step, law_, coefficient, before_law_,
                 enters ? as_span(statistics_.s3) : std::span<double>());
    law_.swap(before_law_);
  }
  const Index gone = end - 1;  // the last to enter stays, for the moves out of it
  std::rotate(steps_.begin(), steps_.begin() + gone, steps_.begin() + num_steps_);
  num_steps_ -= gone;
  has_entered_ = true;
}

void BeamWindow::add_emission(const BeamStep& step, const Matrix& basis, double coefficient) {
  activations_.resize(static_cast<Index>(step.states.size()), basis.cols());
  step.chain->activations(step.states, activations_);
  emission_.add_one(activations_, basis, coefficient * law_, step.observation, statistics_);
}

}  // namespace headwater
