#include "headwater/smoothers/path_window.hpp"

#include "headwater/core/state_checks.hpp"

namespace headwater {

namespace {

// Steps that the window keeps. After so many, what is left of a genealogy is a small part of the
// particles wherever there is resampling at all; where there is none, it is all of them, and the
// paths cost what they cost in Algorithm 1.
constexpr Index kKept = 32;

}  // namespace

PathWindow::PathWindow(const ParticleFilter& filter, const WindowOptions& options, bool with_moves)
    : options_(options),
      block_(window_block(options, 0)),
      statistics_(
          statistics_for(filter.emission(), with_moves ? filter.prior().num_statistics() : 0)),
      settled_(statistics_),
      paths_(statistics_),
      sweep_(filter.emission()) {}

void PathWindow::exchange(StateArchive& archive, const ParticleFilter& filter) {
  archive(block_, since_sum_, statistics_, settled_, settled_weight_, paths_);
  Lineages::exchange(steps_, archive, filter);
  if (!archive.is_reading()) return;
  archive.expect(is_window_length(block_) && block_ > 0 && since_sum_ >= 0 && since_sum_ < block_,
                 "a block of invalid length");
  archive.expect(is_step_size(settled_weight_), "a weight outside [0, 1]");
  if (paths_.num_paths() == 0) return;
  archive.expect(steps_.size() > 1 && steps_[0].count == paths_.num_paths(),
                 "paths that end in no particle");
}

bool PathWindow::advance(const ParticleFilter& filter, const Observation& y, double step_size) {
  lineages_.remember(steps_, filter, y, step_size);
  settled_weight_ *= 1 - step_size;
  statistics_.squared_weights *= (1 - step_size) * (1 - step_size);
  statistics_.count_observation(step_size);
  if (++since_sum_ < block_) return false;
  sum_up(filter);
  if (steps_.size() > kKept + block_) lengthen_paths(steps_.size() - kKept, filter);
  block_ = window_block(options_, statistics_.observations);
  return true;
}

bool PathWindow::finish(const ParticleFilter& filter) {
  if (since_sum_ == 0) return false;
  sum_up(filter);
  return true;
}

void PathWindow::restart() {
  settled_ = statistics_;
  settled_weight_ = 1;
  steps_.clear();
  paths_ = LineageStatistics(statistics_);
}

// S = sum over the window of coefficient_s E[s_s], and what the paths have in them, discounted by
// all observations since they ended; and what earlier sequences have left.
void PathWindow::sum_up(const ParticleFilter& filter) {
  since_sum_ = 0;
  const bool has_paths = paths_.num_paths() > 0;
  coefficients_.resize(static_cast<std::size_t>(steps_.size()));
  double kept = 1;
  for (Index s = steps_.size() - 1; s >= 0; --s) {
    const bool is_in_paths = has_paths && s == 0;
    coefficients_[s] = is_in_paths ? 0 : kept * steps_[s].step_size;
    if (!is_in_paths) kept *= 1 - steps_[s].step_size;
  }
  statistics_.clear_sums();
  lineages_.prune(steps_);
  sweep_.run(steps_, coefficients_, filter, statistics_);
  if (settled_weight_ > 0) statistics_.add_sums(settled_, settled_weight_);
  if (has_paths) paths_.add_to(statistics_, kept * sweep_.oldest_law().head(paths_.num_paths()));
}

// Takes the oldest `count` steps of the window into the paths; the last of them becomes the one
// that the paths end in.
void PathWindow::lengthen_paths(Index count, const ParticleFilter& filter) {
  for (Index s = paths_.num_paths() > 0 ? 1 : 0; s < count; ++s) lengthen_by(s, filter);
  steps_.drop_oldest(count - 1);
}

void PathWindow::lengthen_by(Index s, const ParticleFilter& filter) {
  const LineageStep& step = steps_[s];
  const Eigen::Ref<const Matrix> states = states_of(steps_, s, filter);
  if (paths_.num_paths() == 0) {
    paths_.start(step.count);
  } else {
    paths_.follow(step.parents, 1 - step.step_size);
    const Matrix previous = states_of(steps_, s - 1, filter)(step.parents, Eigen::all);
    paths_.add_moves(filter.prior(), previous, states, step.step_size);
  }
  const Eigen::Ref<const Matrix> activations = activations_.of(states, filter);
  paths_.add_activations(activations, filter.emission(), step.observation, step.step_size);
  paths_.add_counts(activations, filter.emission(), step.observation, step.step_size);
}

}  // namespace headwater
