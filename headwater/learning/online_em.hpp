#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "headwater/clone_pointer.hpp"
#include "headwater/engines/engine.hpp"
#include "headwater/learning/basis_curvature.hpp"
#include "headwater/learning/block_statistics.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/learning/iterate_average.hpp"
#include "headwater/learning/m_step.hpp"
#include "headwater/learning/round_sums.hpp"
#include "headwater/reports.hpp"
#include "headwater/step_size.hpp"

namespace headwater {

class SharedChannels;

struct OnlineEmOptions {
  StepSize step_size = StepSize::power(0.6);
  std::int64_t burn_in = 100;  // the first M-step is made when so many observations are in
  bool average = true;         // report the average of the iterates
  // One M-step at the end of a stream shorter than the burn-in, rather than its starting values.
  bool rescue_short_streams = true;
  // Whether EM's steps for the basis are lengthened (see BasisCurvature) where that is affordable.
  bool lengthen_steps = true;
  double least_ridge = 0.05;  // the less, the longer: by up to (1 + ridge) / ridge
  // Components that are dead or the same as another are given a new column, when so many
  // observations are in, and then each time that their number has doubled. 0: never.
  std::int64_t revive_after = 1000;
  std::uint64_t seed = 1;    // for the new columns
  bool keep_blocks = false;  // what blocks of observations have said, for standard errors
  MStepOptions m_step;
};

// Online EM [YildirimCemgilSingh2012, Algorithm 1]: after every observation, or every block of
// them, the parameters that maximise the averaged expected log-likelihood so far. Inside, and in
// the engine, the prior may have a scale other than 1 (see Scale); estimates are handed out, and
// averaged, with a prior of scale 1.
class OnlineEm {
 public:
  OnlineEm(std::unique_ptr<Engine> engine, Estimate start, OnlineEmOptions options);
  // Called when the observation is in the filter and an M-step is about to follow: the last moment
  // at which the engine still has the parameters that the observation was predicted with.
  using BeforeMStep = std::function<void(const StepReport&)>;
  StepReport update(const Observation& y, const BeforeMStep& before_m_step = {});
  // Takes in the sequences of a round at once, whose statistics were found elsewhere, under the
  // parameters working(). The engine is a RoundEngine.
  struct RoundReport {
    double weight = 0;     // of the round in the statistics
    bool updated = false;  // whether an M-step followed
    Index revived = -1;    // see StepReport
  };
  RoundReport take_in(const RoundSums& round);
  // The stream has ended: what the engine still holds back enters the estimate. If further
  // observations come all the same, they go on from there.
  void finish();

  // What a fit had seen whose statistics the engine was made with.
  struct Past {
    std::int64_t observations = 0;
    std::int64_t impossible = 0;
    std::int64_t m_steps = 0;
    std::int64_t revivals = 0;
    double log_likelihood = 0;
  };
  void set_past(const Past& past);
  // For a fit that is not settled yet: what is known of basis and law by other means.
  void set_emission(const Matrix& basis, const AnyLaw& law);
  // Goes on from the average of the statistics, whose estimate is the one that was reported, with
  // the weight of all observations so far. Nothing changes where nothing was averaged.
  void begin_from_average();
  // Goes on from an estimate of all observations so far, of scale 1, that was found by other means.
  // statistics_of(estimate, n) are those of all these observations in n stretches, one after the
  // other, under the same estimate in the engine's own scale. They take the place of all statistics
  // so far, in the average and for standard errors, too. Returns false, and nothing changes, where
  // the engine does not keep statistics in one place.
  using StatisticsOf =
      std::function<std::vector<Statistics>(const Estimate& estimate, Index num_stretches)>;
  bool take_up(Estimate estimate, const StatisticsOf& statistics_of);
  bool learns_prior() const { return learn_prior_; }
  // From now on as if only so many observations had been seen: they weigh as much in the statistics
  // as so many would, and step sizes are those that follow on so many.
  void forget_all_but(std::int64_t observations);
  // Goes on under the law of the emission of another engine, which has seen nothing, from the
  // estimate and the statistics so far. Returns false, and nothing changes, where an engine does
  // not keep statistics in one place.
  bool go_on_under(const AnyLaw& law, std::unique_ptr<Engine> engine);
  // Of ranks that keep their own rows: the first one has all from here on and works alone, and the
  // others have none, and are of no more use.
  void collect_rows(SharedChannels& shared);
  void set_step_size(const StepSize& step_size) { options_.step_size = step_size; }

  // Puts the state into the archive, or takes it up from there; one that reads was made with the
  // same options, whatever its start.
  void exchange(StateArchive& archive);

  Estimate last() const { return with_unit_scale(estimate_); }
  const Estimate& working() const { return estimate_; }  // the same in the engine's own scale
  // From the average of the statistics, where noise is additive: averages of the iterates, which
  // are ratios of noisy sums, would be biased by it. The last where nothing is averaged.
  Estimate averaged() const;
  bool has_average() const { return options_.average && !average_.empty(); }
  Estimate working_average() const;  // averaged() in the engine's own scale
  Estimate reported() const { return options_.average ? averaged() : last(); }
  // The same with the law of the last iterate: its own M-step may take longer than all others.
  Estimate reported_but_law() const;
  AnyPrior reported_prior() const;  // alone

  // For standard errors. The statistics whose M-step leads to the reported estimate; how many
  // observations of equal weight they are worth; and those of blocks of observations.
  const MStep& m_step() const { return m_step_; }
  Statistics reported_statistics() const;
  double worth_of_reported() const;
  const BlockStatistics& blocks() const { return blocks_; }

  // E[x_t | y_1..t] under a prior of scale 1, background included.
  Vector filtered_activation() const;

  const Engine& engine() const { return *engine_; }
  std::int64_t observations() const { return observations_; }
  double next_step_size() const { return options_.step_size(clock_ + 1); }
  std::int64_t impossible_observations() const { return impossible_; }
  std::int64_t m_steps() const { return m_steps_; }
  std::int64_t revivals() const { return revivals_; }
  // Of the observations that were possible.
  double log_likelihood() const { return log_likelihood_; }
  // Of a beam filter, an observation (see FilterStep).
  double mean_lost_mass() const {
    return observations_ > 0 ? lost_mass_ / static_cast<double>(observations_) : 0;
  }

 private:
  Estimate working_average_but_law(const Statistics& mean) const;
  bool is_settled() const { return observations_ >= options_.burn_in; }
  void maximise();
  void begin_block();
  bool lengthens_steps();
  void lengthen_step(const Matrix& before);
  Index revive_if_due();

  ClonePointer<Engine> engine_;
  Estimate estimate_;  // in the form that is learned
  OnlineEmOptions options_;
  MStep m_step_;
  bool learn_prior_;
  BasisCurvature curvature_;
  std::int64_t next_curvature_ = 0;  // M-steps made when it is measured again
  IterateAverage average_;
  BlockStatistics blocks_;
  std::int64_t observations_ = 0;
  std::int64_t clock_ = 0;  // the same, as the step sizes count them
  std::int64_t impossible_ = 0;
  std::int64_t m_steps_ = 0;
  std::int64_t revivals_ = 0;
  std::int64_t next_revival_ = 0;
  double log_likelihood_ = 0;
  double lost_mass_ = 0;
};

}  // namespace headwater
