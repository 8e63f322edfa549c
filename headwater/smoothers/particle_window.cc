#include "headwater/smoothers/particle_window.hpp"

namespace headwater {

ParticleWindow::ParticleWindow(const ParticleFilter& filter, std::unique_ptr<BackwardKernel> kernel,
                               Index lag, const WindowOptions& options, bool with_moves)
    : kernel_(std::move(kernel)),
      window_(options, lag),
      statistics_(
          statistics_for(filter.emission(), with_moves ? filter.prior().num_statistics() : 0)),
      sweep_(filter.emission()) {}

void ParticleWindow::exchange(StateArchive& archive, const ParticleFilter& filter) {
  archive(statistics_);
  window_.exchange(archive, [&](ParticleStep& step) { step.exchange(archive, filter); });
  if (!archive.is_reading()) return;
  // Draws are made for a step that has another one before it.
  for (Index s = 1; s < window_.size(); ++s) {
    archive.expect(static_cast<Index>(window_[s].draws.size()) ==
                       kernel_->num_draws() * filter.num_particles(),
                   "particles without a past");
  }
}

bool ParticleWindow::advance(const ParticleFilter& filter, const Observation& y, double step_size) {
  ParticleStep& step = window_.push();
  step.remember(filter, y, step_size);
  if (window_.size() > 1) kernel_->prepare(filter, window_[window_.size() - 2], step);
  if (!window_.is_due()) return false;
  fold(window_.num_due(), filter);
  window_.start_block(statistics_.observations);
  return true;
}

bool ParticleWindow::finish(const ParticleFilter& filter) {
  if (window_.num_waiting() == 0) return false;
  fold(window_.num_waiting(), filter);
  return true;
}

void ParticleWindow::fold(Index count, const ParticleFilter& filter) {
  const std::span<const double> coefficients = window_.enter(count, statistics_);
  law_ = window_.newest().weights;
  sweep_.run(window_.steps(), coefficients, filter, *kernel_, law_, statistics_);
  window_.drop_entered(count);
}

}  // namespace headwater
