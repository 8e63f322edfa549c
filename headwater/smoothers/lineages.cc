#include "headwater/smoothers/lineages.hpp"

#include <algorithm>
#include <cassert>

#include "headwater/core/state_checks.hpp"
#include "headwater/emission/shared_rows.hpp"
#include "headwater/kernels/gather.hpp"

namespace headwater {

namespace {

// Those that died out are looked for in all steps once in so many: what is kept stays in the cache.
constexpr Index kStepsBetweenPrunings = 8;

// rows: ascending. Numbers them anew without gaps, and lists the old numbers.
void close_gaps(std::span<const std::int32_t> rows, std::span<std::int32_t> renumbered,
                Ancestors& kept) {
  kept.resize(rows.size());
  std::int32_t last = -1;
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t row = rows[i];
    assert(row >= last);
    count += row != last;
    kept[count - 1] = row;
    renumbered[i] = static_cast<std::int32_t>(count) - 1;
    last = row;
  }
  kept.resize(count);
}

// Moves the chosen elements, which ascend, to the front.
template <class T>
void move_to_front(std::span<const std::int32_t> chosen, T* values) {
  for (std::size_t i = 0; i < chosen.size(); ++i) values[i] = values[chosen[i]];
}

bool are_in_place(const Ancestors& rows, Index size) {
  if (static_cast<Index>(rows.size()) != size) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] != static_cast<std::int32_t>(i)) return false;
  }
  return true;
}

void gather_in_room(const Eigen::Ref<const Matrix>& from, std::span<const std::int32_t> rows,
                    Matrix& to) {
  const auto count = static_cast<Index>(rows.size());
  if (to.rows() < count || to.cols() != from.cols()) to.resize(count, from.cols());
  gather_rows(from, rows, to.topRows(count));
}

}  // namespace

void LineageStep::exchange(StateArchive& archive, const ParticleFilter& filter, bool is_newest) {
  const Index n = filter.num_particles();
  Matrix kept = is_newest || archive.is_reading() ? Matrix() : Matrix(states.topRows(count));
  archive(count, kept, parents, is_loose, observation, step_size);
  if (!archive.is_reading()) return;
  archive.expect(count > 0 && count <= n && (!is_newest || count == n),
                 "an invalid number of particles");
  if (!is_newest) {
    archive.expect(kept.rows() == count && are_states_of(filter.prior(), kept),
                   "states that the prior does not have");
    states.resize(n, kept.cols());
    states.topRows(count) = kept;
  }
  archive.expect(static_cast<Index>(parents.size()) == count && std::ranges::is_sorted(parents),
                 "particles without an ancestor");
  archive.expect(observation.num_channels() == filter.emission().num_channels(),
                 "an observation of the wrong length");
  archive.expect(is_step_size(step_size), "a step size outside [0, 1]");
}

void Lineages::check_parents(const Steps& steps, StateArchive& archive) {
  for (Index s = 1; s < steps.size(); ++s) {
    archive.expect(are_indices(std::span<const std::int32_t>(steps[s].parents), steps[s - 1].count),
                   "particles without an ancestor");
  }
}

void Lineages::remember(Steps& steps, const ParticleFilter& filter, const Observation& y,
                        double step_size) {
  LineageStep& step = steps.push();
  step.count = filter.num_particles();
  step.observation = y;
  step.step_size = step_size;
  step.is_loose = false;
  step.parents.resize(filter.ancestors().size());
  close_gaps(filter.ancestors(), step.parents, kept_);
  const Index before = steps.size() - 2;
  if (before < 0) return;
  keep_parents(steps[before], filter);
  if (before > 0 && steps[before].count < step.count) steps[before - 1].is_loose = true;
  if (steps.size() % kStepsBetweenPrunings == 0) prune(steps);
}

// Until now the states of the step before have been the filter's.
void Lineages::keep_parents(LineageStep& before, const ParticleFilter& filter) {
  const Matrix& states = filter.previous_states();
  if (before.states.size() == 0) before.states.resize(states.rows(), states.cols());
  before.count = static_cast<Index>(kept_.size());
  move_to_front(kept_, before.parents.data());
  before.parents.resize(kept_.size());
  for_each_chunk(filter.pool(), before.count, kParticleChunk, [&](Index first, Index size, Index) {
    gather_rows(states, std::span<const std::int32_t>(kept_).subspan(first, size),
                before.states.middleRows(first, size));
  });
}

void Lineages::prune(Steps& steps) {
  for (Index s = steps.size() - 1; s > 1; --s) {
    LineageStep& before = steps[s - 1];
    if (!before.is_loose) continue;
    before.is_loose = false;
    close_gaps(steps[s].parents, steps[s].parents, kept_);
    if (static_cast<Index>(kept_.size()) == before.count) continue;
    before.count = static_cast<Index>(kept_.size());
    for (auto column : before.states.colwise()) move_to_front(kept_, column.data());
    move_to_front(kept_, before.parents.data());
    before.parents.resize(kept_.size());
    steps[s - 2].is_loose = true;
  }
}

Eigen::Ref<const Matrix> states_of(const Lineages::Steps& steps, Index s,
                                   const ParticleFilter& filter) {
  if (s + 1 == steps.size()) return filter.states();
  return steps[s].states.topRows(steps[s].count);
}

void LineageSweep::run(const Lineages::Steps& steps, std::span<const double> coefficients,
                       const ParticleFilter& filter, Statistics& statistics) {
  SharedRows rows(statistics);
  law_ = filter.weights();
  for (Index s = steps.size() - 1; s >= 0; --s) {
    if (coefficients[s] > 0) add(steps, s, coefficients[s], filter, statistics);
    if (s > 0) pull_back(steps[s], steps[s - 1].count);
  }
  sums_->finish(filter.emission(), statistics);
  rows.gather();
}

void LineageSweep::pull_back(const LineageStep& step, Index num_before) {
  if (are_in_place(step.parents, num_before)) return;
  before_law_.resize(law_.size());
  auto before = before_law_.head(num_before);
  before.setZero();
  for (Index i = 0; i < step.count; ++i) before[step.parents[i]] += law_[i];
  law_.swap(before_law_);
}

// What has no weight is left out: an activation that cannot have given the counts has no finite
// share in them.
void LineageSweep::add(const Lineages::Steps& steps, Index s, double coefficient,
                       const ParticleFilter& filter, Statistics& statistics) {
  const LineageStep& step = steps[s];
  const Eigen::Ref<const Matrix> states = states_of(steps, s, filter);
  const auto law = law_.head(step.count);
  weights_.resize(filter.num_particles());
  if (law.minCoeff() > 0) {
    weights_.head(step.count) = coefficient * law;
    add_particles(steps, s, states, step.parents, filter, statistics);
    return;
  }
  chosen_.clear();
  parents_of_chosen_.clear();
  for (Index i = 0; i < step.count; ++i) {
    if (!(law[i] > 0)) continue;
    weights_[static_cast<Index>(chosen_.size())] = coefficient * law[i];
    chosen_.push_back(static_cast<std::int32_t>(i));
    parents_of_chosen_.push_back(step.parents[i]);
  }
  gather_in_room(states, chosen_, chosen_states_);
  add_particles(steps, s, chosen_states_.topRows(static_cast<Index>(chosen_.size())),
                parents_of_chosen_, filter, statistics);
}

void LineageSweep::add_particles(const Lineages::Steps& steps, Index s,
                                 const Eigen::Ref<const Matrix>& states, const Ancestors& parents,
                                 const ParticleFilter& filter, Statistics& statistics) {
  const auto weights = weights_.head(states.rows());
  sums_->add_one(activations_.of(states, filter), filter.emission(), weights, steps[s].observation,
                 statistics);
  if (s == 0 || statistics.s3.size() == 0) return;
  const Eigen::Ref<const Matrix> before = states_of(steps, s - 1, filter);
  const std::span<double> s3 = as_span(statistics.s3);
  if (are_in_place(parents, before.rows())) {
    filter.prior().add_statistics(before, states, weights, s3);
  } else {
    gather_in_room(before, parents, before_states_);
    filter.prior().add_statistics(before_states_.topRows(states.rows()), states, weights, s3);
  }
}

}  // namespace headwater
