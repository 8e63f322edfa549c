#include <utility>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/session/fit.hpp"

// How a fit gives up a law of the counts that has proved too narrow on the way.
//
// A search for a start chooses the law by the observations that it has. A quiet beginning tells
// little of how counts scatter: a stream that becomes loud, or restless, later on would be
// predicted by the Poisson law for good, and single observations may cost hundreds of nats a
// channel. So where the Poisson law was chosen, and its predictions fall far behind those of the
// running mean of each channel, the fit goes on under drifting levels, which include all other laws
// with dispersion. For some time the fit under the old law runs beside it, and comes back if it
// predicts better: what was missing may have been a source that had not been on before.

namespace headwater {

bool Session::Fit::may_widen_law() const {
  if (!law_is_chosen_ || !leader_ || leader_->is_provisional()) return false;
  const OnlineEm& learner = leader_->learner;
  // Gains of single channels are learned beside the engine, and another one would not have them.
  return learner.working().law->name() == AnyLaw()->name() &&
         learner.engine().channel_profiles().empty();
}

void Session::Fit::widen_law() {
  against_mean_.begin_anew();
  keep_prediction();
  Contender wide = *leader_;
  Estimate estimate = wide.learner.working();
  estimate.law = law_of(NegativeBinomial::kDrifting);
  auto engine =
      engine_for(estimate, config_.seed, std::make_shared<ThreadPool>(config_.engine.num_threads));
  engine->begin_after(wide.learner.observations());
  if (!wide.learner.go_on_under(estimate.law, std::move(engine))) return;
  wide.average.reset();
  const std::int64_t seen = wide.learner.observations();
  wide.report.widened_after = seen;
  race_ = Race::after(seen, 0);
  rival_ = std::move(leader_);
  leader_.emplace(std::move(wide));
}

}  // namespace headwater
