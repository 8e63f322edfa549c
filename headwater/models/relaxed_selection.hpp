#pragma once

#include <span>
#include <string>

#include "headwater/concepts.hpp"
#include "headwater/models/guides/relaxed_guide.hpp"
#include "headwater/models/shared_or_own.hpp"

namespace headwater {

// Components between off and on [YildirimCemgilSingh2012, sec. 4.2]. With probability alpha an
// activation moves towards the nearer edge of (0, 1), uniformly; otherwise it moves away, uniformly
// over the rest. The chain starts in its stationary distribution, whose density is proportional to
// x^-alpha (1 - x)^-(1 - alpha) on (0, 1/2] and mirrored above 1/2.
//
// x comes within 1e-70 of an edge and closer, where near 1 it would round to 1. The state is
// therefore the distance to the nearer edge with a sign for the side: s = x up to 1/2, and s = x -
// 1 above. A distance is at least 1e-300, which is indistinguishable from 0 in an activation.
// Densities are those of x.
class RelaxedSelection {
 public:
  RelaxedSelection(Index num_components, double alpha);
  RelaxedSelection(Index num_components, Vector alpha);

  std::string name() const { return "relaxed-selection"; }
  Index num_components() const { return num_components_; }
  Index state_size() const { return num_components_; }

  void sample_initial(const RandomBlock& random, States next) const;
  void sample_transition(const RandomBlock& random, ConstStates previous, States next) const;
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const;

  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const;
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const;

  using Guide = RelaxedGuide;
  bool guide(const Evidence& evidence, ConstStates previous,
             const Eigen::Ref<const Vector>& weights, Guide& guide) const;

  // For each component: the numbers of moves towards the edge and away from it.
  Index num_statistics() const { return 2 * num_components_; }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> out) const;

  Parameters parameters() const { return {{"alpha", alpha_.values()}}; }
  void set_parameter(const Parameter& parameter);
  // alpha = moves towards the edge / all moves.
  void maximise(std::span<const double> statistics);

 private:
  void take_logarithms();

  Index num_components_;
  SharedOrOwn alpha_;
  Vector log_towards_;  // log alpha of each component
  Vector log_away_;     // log(1 - alpha)
};

static_assert(BoundedTransition<RelaxedSelection> && LearnablePrior<RelaxedSelection> &&
              GuidedPrior<RelaxedSelection>);

}  // namespace headwater
