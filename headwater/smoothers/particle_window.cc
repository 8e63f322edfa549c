#include "headwater/smoothers/particle_window.hpp"

#include <algorithm>

namespace headwater {

ParticleWindow::ParticleWindow(const ParticleFilter& filter, std::unique_ptr<BackwardKernel> kernel,
                               Index lag, const WindowOptions& options, bool with_moves)
    : kernel_(std::move(kernel)),
      lag_(lag),
      options_(options),
      block_(window_block(options, 0)),
      statistics_(filter.basis().rows(), filter.basis().cols(),
                  with_moves ? filter.prior().num_statistics() : 0) {}

ParticleWindow::ParticleWindow(const ParticleWindow& other)
    : kernel_(other.kernel_->clone()),
      lag_(other.lag_),
      options_(other.options_),
      block_(other.block_),
      statistics_(other.statistics_),
      steps_(other.steps_),
      num_steps_(other.num_steps_),
      has_entered_(other.has_entered_) {}

bool ParticleWindow::advance(const ParticleFilter& filter, Observation y, double step_size) {
  if (num_steps_ == static_cast<Index>(steps_.size())) steps_.emplace_back();
  ParticleStep& step = steps_[num_steps_++];
  step.remember(filter, y, step_size);
  if (num_steps_ > 1) kernel_->prepare(filter, steps_[num_steps_ - 2], step);
  if (num_waiting() < lag_ + block_) return false;
  fold(num_waiting() - lag_, filter);
  block_ = window_block(options_, statistics_.observations);
  return true;
}

bool ParticleWindow::finish(const ParticleFilter& filter) {
  if (num_waiting() == 0) return false;
  fold(num_waiting(), filter);
  return true;
}

void ParticleWindow::fold(Index count, const ParticleFilter& filter) {
  const Index first = has_entered_ ? 1 : 0;
  step_sizes_.clear();
  for (Index t = first; t < first + count; ++t) step_sizes_.push_back(steps_[t].step_size);
  enter_observations(step_sizes_, entering_, statistics_);
  coefficients_.assign(static_cast<std::size_t>(num_steps_), 0);
  std::ranges::copy(entering_, coefficients_.begin() + first);

  law_ = steps_[num_steps_ - 1].weights;
  sweep_.run({steps_.data(), static_cast<std::size_t>(num_steps_)}, coefficients_, filter, *kernel_,
             law_, statistics_);

  const Index gone = first + count - 1;  // the last to enter stays, for the moves out of it
  std::rotate(steps_.begin(), steps_.begin() + gone, steps_.begin() + num_steps_);
  num_steps_ -= gone;
  has_entered_ = true;
}

}  // namespace headwater
