#include <algorithm>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/session/fit.hpp"
#include "headwater/session/prior_choice.hpp"

// Which prior a fit has: the one that was asked for, or of several the one that predicts best.

namespace headwater {

namespace {

// With fewer observations there is no choice.
constexpr Index kFewestForPriors = 30;

bool is_affordable(const Config& config, const AnyPrior& prior, Index num_channels) {
  try {
    check_cost(config, prior, num_channels);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

// Of several priors those are left that the engine can do. Throws UsageError if it can do none.
void Session::Fit::leave_out_unreachable() {
  std::vector<AnyPrior> left;
  for (const AnyPrior& prior : priors_) {
    try {
      check_engine(config_, prior);
      left.push_back(prior);
    } catch (const UsageError&) {
      if (!chooses_prior()) throw;
    }
  }
  if (left.empty()) check_engine(config_, priors_.front());
  priors_ = std::move(left);
}

const AnyPrior& Session::Fit::start_prior(const std::string& name) const {
  const auto found = std::ranges::find(priors_, name, &AnyPrior::name);
  return found != priors_.end() ? *found : priors_.front();
}

const AnyPrior& Session::Fit::prior_of(const Contender& contender) const {
  return start_prior(contender.learner.working().prior.name());
}

const AnyPrior& Session::Fit::prior() const {
  if (batch_) return start_prior(batch_->estimate.prior.name());
  return leader_ ? prior_of(*leader_) : provisional_prior();
}

// It sees as many observations as a fit with this prior alone would hold back, so that the fit is
// the same as if the prior had been asked for by name.
StartSearch Session::Fit::search_start(const RecordView& observations, const AnyPrior& prior,
                                       const std::vector<Index>& periods,
                                       const SearchEffort& effort) const {
  const Index most = std::min<Index>(observations.size(), num_to_hold_back(prior));
  return automatic_start(observations.first(most), prior, laws(), config_.background,
                         m_step_options(prior, {}), config_.seed, on_search.get(),
                         learns_season() ? periods : std::vector<Index>(), effort,
                         ThreadPool(config_.engine.num_threads));
}

// A light search for each comes first: it tells as a rule which few priors are worth a thorough
// one.
std::vector<PriorScore> Session::Fit::compare_priors(const RecordView& observations,
                                                     const std::vector<Index>& periods,
                                                     const SearchEffort& effort) const {
  if (!chooses_prior() || observations.size() < kFewestForPriors) return {};
  const Index fitted = fitted_part(observations.size());
  PriorChoice choice(num_channels_);
  const auto attempt = [&](const AnyPrior& prior, const SearchEffort& with) {
    const Estimate start = search_start(observations.first(fitted), prior, periods, with).estimate;
    const auto engine =
        make_engine({config_, start, config_.seed,
                     std::make_shared<ThreadPool>(config_.engine.num_threads), false});
    choice.set(prior.name(), start.law->name(),
               held_out_predictions(*engine, observations, fitted));
  };
  for (const AnyPrior& prior : priors_) {
    if (is_affordable(config_, prior, num_channels_)) attempt(prior, SearchEffort::light());
  }
  const std::vector<std::string> left = choice.within_reach();
  if (effort.is_light || left.size() < 2) return choice.table();
  for (const std::string& name : left) attempt(start_prior(name), effort);
  return choice.table();
}

}  // namespace headwater
