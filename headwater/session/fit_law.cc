#include <string>
#include <utility>

#include "headwater/emission/hurdle.hpp"
#include "headwater/emission/negative_binomial.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/session/fit.hpp"

// How a fit gives up a law of the counts that has proved too narrow on the way.
//
// A search for a start chooses the law by the observations that it has. A quiet beginning tells
// little of how counts scatter: a stream that becomes loud, or restless, later on would be
// predicted by the Poisson law for good, and single observations may cost hundreds of nats a
// channel. And levels may begin to drift that have not before. So where a law was chosen, and its
// predictions fall far behind those of a running mean of each channel, the fit goes on under
// drifting levels, which include all other laws with dispersion. For some time the fit under the
// old law runs beside it, and comes back if it predicts better: what was missing may have been a
// source that had not been on before.

namespace headwater {

namespace {

// The same with levels that drift; from the Poisson law, with dispersion too.
std::string drifting(const AnyLaw& law) {
  return has_hurdle(law) ? Hurdle::kDrifting : NegativeBinomial::kDrifting;
}

}  // namespace

// A basis is never quite right, and what it lacks looks like dispersion. Poisson streams are to
// stay so: under the Poisson law the fit must be behind the mean of all that has come, and not only
// behind a mean of what came last.
AgainstMean::Losses Session::Fit::losses_that_count() const {
  using enum AgainstMean::Losses;
  if (!law_is_chosen_ || !leader_ || leader_->is_provisional()) return kNone;
  // Gains of single channels are learned beside the engine, and another one would not have them.
  if (config_.learns_channel_profiles()) return kNone;
  const OnlineEm& learner = leader_->learner;
  const bool drifts_already = learner.engine().expected_levels().means.size() > 0;
  if (drifts_already) return kNone;
  const AnyLaw& law = learner.working().law;
  const bool is_poisson = law->has_plain_losses() && !has_hurdle(law);
  return is_poisson ? kToMean : kToRecent;
}

void Session::Fit::widen_law() {
  against_mean_.begin_anew();
  keep_prediction();
  Contender wide = *leader_;
  Estimate estimate = wide.learner.working();
  estimate.law = with_parameters_of(estimate.law, law_of(drifting(estimate.law)));
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
