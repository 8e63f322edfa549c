#include "headwater/smoothers/beam_window.hpp"

#include <algorithm>

#include "headwater/core/state_checks.hpp"
#include "headwater/emission/shared_rows.hpp"

namespace headwater {

void BeamStep::remember(const BeamFilter& filter, const Observation& y, double its_step_size) {
  states = filter.states();
  weights.assign(filter.weights().begin(), filter.weights().end());
  chain = filter.chain();
  observation = y;
  step_size = its_step_size;
}

void BeamRetreat::run(const BeamStep& before, const BeamStep& step,
                      const Eigen::Ref<const Vector>& law, double coefficient,
                      GrowingVector& before_law, std::span<double> moves) {
  const PackedChain& chain = *step.chain;
  const auto num_before = static_cast<Index>(before.states.size());
  const Eigen::Map<const Vector> weights(before.weights.data(), num_before);
  auto sums = before_law.resize(num_before);
  sums.setZero();
  auto row = row_.resize(num_before);
  if (!moves.empty()) pair_moves_.clear(chain);
  for (Index i = 0; i < law.size(); ++i) {
    if (!(law[i] > 0)) continue;
    const PackedState state = step.states[static_cast<std::size_t>(i)];
    chain.transitions_to(state, before.states, as_span(row));
    row = row.cwiseProduct(weights);
    // A state that none of those before leads to says nothing of where it came from.
    const double sum = row.sum();
    if (sum > 0) {
      row *= law[i] / sum;
    } else {
      row = law[i] * weights;
    }
    sums += row;
    if (moves.empty()) continue;
    for (Index j = 0; j < num_before; ++j) {
      if (row[j] == 0) continue;
      pair_moves_.add(chain, before.states[static_cast<std::size_t>(j)], state,
                      coefficient * row[j]);
    }
  }
  if (!moves.empty()) pair_moves_.add_to(chain, moves);
}

BeamWindow::BeamWindow(const BeamFilter& filter, const WindowOptions& options, bool with_moves)
    : chain_(filter.chain()),
      options_(options),
      window_(options, window_lag(options, filter.chain()->contraction())),
      statistics_(statistics_for(filter.emission(), with_moves ? filter.chain()->num_moves() : 0)),
      sums_(filter.emission().sums()) {}

void BeamWindow::exchange(StateArchive& archive, const BeamFilter& filter) {
  archive(statistics_);
  // Most steps share the chain of the step before.
  std::shared_ptr<const PackedChain> chain;
  window_.exchange(archive, [&](BeamStep& step) {
    bool is_new = step.chain != chain || !chain;
    archive(is_new);
    if (is_new) exchange_packed(archive, *chain_, step.chain);
    if (!is_new) step.chain = chain;
    chain = step.chain;
    archive.expect(chain != nullptr, "a step without a chain");
    exchange_states(archive, *chain, step.states, step.weights);
    archive(step.observation, step.step_size);
    if (!archive.is_reading()) return;
    archive.expect(is_law(step.weights), "invalid weights");
    archive.expect(step.observation.num_channels() == filter.emission().num_channels(),
                   "an observation of the wrong length");
    archive.expect(is_step_size(step.step_size), "a step size outside [0, 1]");
  });
}

bool BeamWindow::advance(const BeamFilter& filter, const Observation& y, double step_size) {
  window_.push().remember(filter, y, step_size);
  if (!window_.is_due()) return false;
  fold(window_.num_due(), filter);
  window_.start_block(statistics_.observations,
                      window_lag(options_, filter.chain()->contraction()));
  return true;
}

bool BeamWindow::finish(const BeamFilter& filter) {
  if (window_.num_waiting() == 0) return false;
  fold(window_.num_waiting(), filter);
  return true;
}

void BeamWindow::fold(Index count, const BeamFilter& filter) {
  const Index first = window_.first_waiting();
  const Index end = first + count;  // of those that enter now
  const std::span<const double> coefficients = window_.enter(count, statistics_);
  const std::vector<double>& newest = window_.newest().weights;
  std::ranges::copy(newest, law_.resize(static_cast<Index>(newest.size())).begin());
  SharedRows rows(statistics_);
  for (Index t = window_.size() - 1; t >= first; --t) {
    const BeamStep& step = window_[t];
    const bool enters = t < end;
    const double coefficient = coefficients[static_cast<std::size_t>(t)];
    if (enters) add_emission(step, filter.emission(), coefficient);
    if (t == 0) break;
    retreat_.run(window_[t - 1], step, law_.view(), coefficient, before_law_,
                 enters ? as_span(statistics_.s3) : std::span<double>());
    std::swap(law_, before_law_);
  }
  sums_->finish(filter.emission(), statistics_);
  rows.gather();
  window_.drop_entered(count);
}

void BeamWindow::add_emission(const BeamStep& step, const Emission& emission, double coefficient) {
  auto activations =
      activations_.resize(static_cast<Index>(step.states.size()), emission.num_columns());
  step.chain->activations(step.states, activations);
  auto weights = weights_.resize(law_.size());
  weights = coefficient * law_.view();
  sums_->add_one(activations, emission, weights, step.observation, statistics_);
}

}  // namespace headwater
