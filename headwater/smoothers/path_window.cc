#include "headwater/smoothers/path_window.hpp"

#include <algorithm>

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
  archive(block_, since_sum_, statistics_, settled_, settled_weight_, paths_, path_of_);
  steps_.exchange(archive, [&](ParticleStep& step) { step.exchange(archive, filter); });
  if (!archive.is_reading()) return;
  archive.expect(is_window_length(block_) && block_ > 0 && since_sum_ >= 0 && since_sum_ < block_,
                 "a block of a length that is none");
  archive.expect(is_step_size(settled_weight_), "a weight outside [0, 1]");
  if (paths_.num_paths() == 0) return;
  // The paths end in the first step; whoever has descendants has a path.
  archive.expect(
      steps_.size() > 0 && static_cast<Index>(path_of_.size()) == filter.num_particles() &&
          std::ranges::all_of(path_of_, [&](Index p) { return p >= -1 && p < paths_.num_paths(); }),
      "paths that end in no particle");
  find_alive();
  for (const Index i : alive_[0]) archive.expect(path_of_[i] >= 0, "a particle without a path");
}

bool PathWindow::advance(const ParticleFilter& filter, const Observation& y, double step_size) {
  steps_.push().remember(filter, y, step_size);
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
  path_of_.clear();
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
  law_ = steps_[steps_.size() - 1].weights;
  sweep_.run(steps_.steps(), coefficients_, filter, kernel_, law_, statistics_);
  if (settled_weight_ > 0) statistics_.add_sums(settled_, settled_weight_);
  if (!has_paths) return;
  Vector path_weights = Vector::Zero(paths_.num_paths());
  for (Index j = 0; j < law_.size(); ++j) {
    if (law_[j] > 0) path_weights[path_of_[j]] += kept * law_[j];
  }
  paths_.add_to(statistics_, path_weights);
}

// Takes the oldest `count` steps of the window into the paths; the last of them becomes the one
// that the paths end in.
void PathWindow::lengthen_paths(Index count, const ParticleFilter& filter) {
  find_alive();
  for (Index s = paths_.num_paths() > 0 ? 1 : 0; s < count; ++s) lengthen_by(s, filter);
  steps_.drop_oldest(count - 1);
}

void PathWindow::find_alive() {
  alive_.resize(static_cast<std::size_t>(steps_.size()));
  std::vector<bool> has_descendants;
  for (Index s = steps_.size() - 1; s >= 0; --s) {
    const Index n = steps_[s].weights.size();
    alive_[s].clear();
    for (Index i = 0; i < n; ++i) {
      const bool is_newest = s == steps_.size() - 1;
      if (is_newest || has_descendants[i]) alive_[s].push_back(i);
    }
    has_descendants.assign(static_cast<std::size_t>(n), false);
    for (const Index i : alive_[s]) has_descendants[steps_[s].ancestors[i]] = true;
  }
}

void PathWindow::lengthen_by(Index s, const ParticleFilter& filter) {
  const ParticleStep& step = steps_[s];
  const std::vector<Index>& alive = alive_[s];
  if (paths_.num_paths() == 0) {
    paths_.start(static_cast<Index>(alive.size()));
  } else {
    std::vector<Index> parents;
    std::vector<Index> parent_paths;
    for (const Index i : alive) {
      parents.push_back(step.ancestors[i]);
      parent_paths.push_back(path_of_[step.ancestors[i]]);
    }
    paths_.follow(parent_paths, 1 - step.step_size);
    const Matrix previous = steps_[s - 1].states(parents, Eigen::all);
    const Matrix next = step.states(alive, Eigen::all);
    paths_.add_moves(filter.prior(), previous, next, step.step_size);
  }
  const Eigen::Ref<const Matrix> activations = activations_.of(step, alive, filter);
  paths_.add_activations(activations, filter.emission(), step.observation, step.step_size);
  paths_.add_counts(activations, filter.emission(), step.observation, step.step_size);
  path_of_.assign(static_cast<std::size_t>(step.weights.size()), -1);
  for (std::size_t p = 0; p < alive.size(); ++p) path_of_[alive[p]] = static_cast<Index>(p);
}

}  // namespace headwater
