#include "headwater/smoothers/path_recursion.hpp"

#include <utility>

namespace headwater {

PathRecursion::PathRecursion(const ParticleFilter& filter, bool with_moves)
    : statistics_(
          statistics_for(filter.emission(), with_moves ? filter.prior().num_statistics() : 0)),
      paths_(statistics_),
      sums_(filter.emission().law()->sums()) {}

void PathRecursion::exchange(StateArchive& archive, const ParticleFilter& filter) {
  archive(paths_, statistics_);
  bool has_started = paths_.num_paths() > 0;
  archive(has_started);
  if (!has_started) return;
  previous_.exchange(archive, filter);
  archive(previous_activations_);
  if (!archive.is_reading()) return;
  archive.expect(paths_.num_paths() == filter.num_particles(), "a particle without a path");
  archive.expect(previous_activations_.rows() == filter.num_particles() &&
                     previous_activations_.cols() == filter.emission().num_columns() &&
                     previous_activations_.allFinite(),
                 "invalid activations");
}

bool PathRecursion::advance(const ParticleFilter& filter, const Observation& y, double step_size) {
  const bool is_first = paths_.num_paths() == 0;
  if (is_first) {
    paths_.start(filter.num_particles());
  } else {
    paths_.add_counts(previous_activations_, filter.emission(), previous_.observation,
                      previous_.step_size);
    if (std::exchange(begins_sequence_, false)) {
      paths_.follow_mean(previous_.weights, filter.num_particles(), 1 - step_size);
    } else {
      paths_.follow(filter.ancestors(), 1 - step_size);
      const Matrix parents = previous_.states(filter.ancestors(), Eigen::all);
      paths_.add_moves(filter.prior(), parents, filter.states(), step_size);
    }
  }
  paths_.add_activations(filter.activations(), filter.emission(), y, step_size);
  previous_.remember(filter, y, step_size);
  previous_activations_ = filter.activations();

  statistics_.discount(1 - step_size);
  statistics_.count_observation(step_size);
  statistics_.clear_sums();
  paths_.add_to(statistics_, filter.weights());
  // S2 takes in the counts of this step at once, which the paths do only at the next.
  sums_->add_counts_of_one(filter.activations(), filter.emission(), step_size * filter.weights(), y,
                           statistics_);
  sums_->finish(filter.emission(), statistics_);
  return true;
}

}  // namespace headwater
