#include "headwater/smoothers/adjoint_window.hpp"

#include "headwater/core/state_checks.hpp"
#include "headwater/emission/shared_rows.hpp"

namespace headwater {

AdjointWindow::AdjointWindow(const ExactFilter& filter, const WindowOptions& options,
                             bool with_moves)
    : options_(options),
      window_(options, window_lag(options, filter.transition()->contraction())),
      statistics_(
          statistics_for(filter.emission(), with_moves ? filter.transition()->num_moves() : 0)),
      sums_(filter.emission().sums()) {}

void AdjointWindow::exchange(StateArchive& archive, const ExactFilter& filter) {
  archive(statistics_);
  // Most steps share the operator of the step before.
  std::shared_ptr<const KroneckerOperator> transition;
  window_.exchange(archive, [&](ExactStep& step) {
    archive(step);
    bool is_new = step.transition != transition;
    archive(is_new);
    if (is_new) exchange_operator(archive, *filter.transition(), step.transition);
    transition = is_new ? step.transition : transition;
    step.transition = transition;
    if (!archive.is_reading()) return;
    const Index size = filter.filtered().size();
    archive.expect(transition != nullptr, "a step without a chain");
    archive.expect(step.filtered.size() == size && is_law(step.filtered) &&
                       step.ratio.size() == size && is_basis(step.ratio),
                   "invalid probabilities");
    archive.expect(step.observation.num_channels() == filter.emission().num_channels(),
                   "an observation of the wrong length");
    archive.expect(is_step_size(step.step_size), "a step size outside [0, 1]");
  });
}

bool AdjointWindow::advance(const ExactFilter& filter, const Observation& y, double step_size) {
  window_.push().remember(filter, y, step_size);
  if (!window_.is_due()) return false;
  fold(window_.num_due(), filter);
  window_.start_block(statistics_.observations,
                      window_lag(options_, filter.transition()->contraction()));
  return true;
}

bool AdjointWindow::finish(const ExactFilter& filter) {
  if (window_.num_waiting() == 0) return false;
  fold(window_.num_waiting(), filter);
  return true;
}

void AdjointWindow::fold(Index count, const ExactFilter& filter) {
  const auto first = static_cast<std::size_t>(window_.first_waiting());
  const std::span<const double> coefficients =
      window_.enter(count, statistics_).subspan(first, static_cast<std::size_t>(count));
  beta_.setOnes(filter.filtered().size());
  sweep_.run(window_.steps().subspan(first), first > 0 ? &window_[0].filtered : nullptr,
             coefficients, beta_, as_span(statistics_.s3));

  observations_.clear();
  for (const ExactStep& step : window_.steps().subspan(first, static_cast<std::size_t>(count))) {
    observations_.push_back(&step.observation);
  }
  SharedRows rows(statistics_);
  sums_->add(filter.states(), filter.emission(), sweep_.weights(), observations_, statistics_);
  rows.gather();
  window_.drop_entered(count);
}

}  // namespace headwater
