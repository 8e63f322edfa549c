#include "headwater/learning/standard_errors.hpp"
#include "headwater/session/fit.hpp"

// How sure a fit is of its estimate.

namespace headwater {

namespace {

// Of the observations, the first of which were those of estimates far off.
constexpr double kPartLeftOut = 0.125;

// An address of random numbers that nothing else in a fit has.
constexpr std::uint64_t kDrawnSeed = std::uint64_t{1} << 56;

}  // namespace

std::optional<StandardErrors> Session::Fit::standard_errors() const {
  if (is_finished_) return standard_errors_;
  if (!config_.standard_errors || !leader_) return std::nullopt;
  const OnlineEm& learner = leader_->learner;
  return errors_of(learner, learner.reported(), learner.blocks());
}

std::optional<StandardErrors> Session::Fit::errors_of(const OnlineEm& learner,
                                                      const Estimate& estimate,
                                                      const BlockStatistics& blocks) const {
  if (!config_.standard_errors || !estimate.is_finite()) return std::nullopt;
  const auto pool = std::make_shared<ThreadPool>(config_.engine.num_threads);
  Config config = config_;
  if (config.block == 0) config.block = kDrawnBlock;
  const auto engine_of_run = [&](const Estimate& of, int run) {
    return make_engine(
        {config, of, config_.seed + kDrawnSeed + static_cast<std::uint64_t>(run), pool, true});
  };
  const Statistics mean = learner.reported_statistics();
  const FittedStatistics fitted{learner.m_step(), learner.working(), mean,
                                blocks.without_first(kPartLeftOut), learner.worth_of_reported()};
  return headwater::standard_errors(
      estimate, fitted, engine_of_run,
      {config_.seed + kDrawnSeed, engine().kind == EngineKind::kParticle});
}

}  // namespace headwater
