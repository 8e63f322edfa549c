#include "headwater/smoothers/lag_window.hpp"

namespace headwater {

LagWindow::LagWindow(const ParticleFilter& filter, Index lag, const WindowOptions& options,
                     bool with_moves)
    : window_(options, lag),
      statistics_(
          statistics_for(filter.emission(), with_moves ? filter.prior().num_statistics() : 0)),
      sweep_(filter.emission()) {}

void LagWindow::exchange(StateArchive& archive, const ParticleFilter& filter) {
  archive(statistics_);
  Lineages::exchange(window_, archive, filter);
}

bool LagWindow::advance(const ParticleFilter& filter, const Observation& y, double step_size) {
  lineages_.remember(window_, filter, y, step_size);
  if (!window_.is_due()) return false;
  fold(window_.num_due(), filter);
  window_.start_block(statistics_.observations);
  return true;
}

bool LagWindow::finish(const ParticleFilter& filter) {
  if (window_.num_waiting() == 0) return false;
  fold(window_.num_waiting(), filter);
  return true;
}

void LagWindow::fold(Index count, const ParticleFilter& filter) {
  const std::span<const double> coefficients = window_.enter(count, statistics_);
  lineages_.prune(window_);
  sweep_.run(window_, coefficients, filter, statistics_);
  window_.drop_entered(count);
}

}  // namespace headwater
