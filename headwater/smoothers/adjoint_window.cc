#include "headwater/smoothers/adjoint_window.hpp"

#include <algorithm>

#include "headwater/core/error.hpp"

namespace headwater {

AdjointWindow::AdjointWindow(const ExactFilter& filter, const WindowOptions& options,
                             bool with_moves)
    : options_(options),
      lag_(window_lag(options, filter.transition()->contraction())),
      block_(window_block(options, 0)),
      statistics_(filter.basis().rows(), filter.basis().cols(),
                  with_moves ? filter.transition()->num_moves() : 0) {}

std::unique_ptr<ExactSmoother> AdjointWindow::clone() const {
  return std::make_unique<AdjointWindow>(*this);
}

void AdjointWindow::exchange(StateArchive& archive) {
  archive(lag_, block_, statistics_, before_, has_before_);
  exchange_first(archive, steps_, num_steps_);
  // Most steps share the operator of the step before.
  std::shared_ptr<const KroneckerOperator> transition;
  for (Index t = 0; t < num_steps_; ++t) {
    bool is_new = steps_[t].transition != transition;
    archive(is_new);
    if (is_new) exchange_operator(archive, steps_[t].transition);
    transition = is_new ? steps_[t].transition : transition;
    steps_[t].transition = transition;
    const Index size = steps_[t].filtered.size();
    if (!transition || transition->num_states() != size || steps_[t].ratio.size() != size) {
      throw InputError("the saved state has laws of different sizes");
    }
  }
}

bool AdjointWindow::advance(const ExactFilter& filter, Observation y, double step_size) {
  if (num_steps_ == static_cast<Index>(steps_.size())) steps_.emplace_back();
  steps_[num_steps_++].remember(filter, y, step_size);
  if (num_steps_ < lag_ + block_) return false;
  fold(num_steps_ - lag_, filter);
  // The prior may have been learned a little further, and its memory have become longer: the window
  // then grows over several blocks, so that M-steps do not pause until it is full.
  lag_ = std::min(window_lag(options_, filter.transition()->contraction()), lag_ + block_ / 2);
  block_ = window_block(options_, statistics_.observations);
  return true;
}

bool AdjointWindow::finish(const ExactFilter& filter) {
  if (num_steps_ == 0) return false;
  fold(num_steps_, filter);
  return true;
}

void AdjointWindow::fold(Index count, const ExactFilter& filter) {
  step_sizes_.clear();
  for (Index t = 0; t < count; ++t) step_sizes_.push_back(steps_[t].step_size);
  enter_observations(step_sizes_, coefficients_, statistics_);
  beta_.setOnes(filter.filtered().size());
  const std::span<const ExactStep> window(steps_.data(), static_cast<std::size_t>(num_steps_));
  sweep_.run(window, has_before_ ? &before_ : nullptr, coefficients_, beta_,
             as_span(statistics_.s3));

  observations_.clear();
  for (Index t = 0; t < count; ++t) observations_.push_back(steps_[t].observation);
  emission_.add(filter.states(), filter.basis(), sweep_.weights(), observations_, statistics_);

  before_.swap(steps_[count - 1].filtered);
  has_before_ = true;
  std::rotate(steps_.begin(), steps_.begin() + count, steps_.begin() + num_steps_);
  num_steps_ -= count;
}

}  // namespace headwater
