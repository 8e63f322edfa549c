#include "headwater/learning/automatic_start.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "headwater/emission/levels.hpp"
#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/drifting_engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/gains_engine.hpp"
#include "headwater/learning/basis_expectation.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/beginnings.hpp"
#include "headwater/learning/expectation_choice.hpp"
#include "headwater/learning/initialise.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/learning/level_prior.hpp"
#include "headwater/learning/refinement.hpp"
#include "headwater/learning/search_effort.hpp"
#include "headwater/learning/search_stages.hpp"
#include "headwater/learning/seasonal_start.hpp"
#include "headwater/learning/start_trials.hpp"
#include "headwater/learning/step_choice.hpp"

namespace headwater {

namespace {

// Joint states that a trial may have: of the prior itself, and of a stand-in of several levels.
constexpr Index kMostStates = 1024;
constexpr Index kMostLevelStates = 256;

// Laws are compared by so many observations at least, of which a third are predicted.
constexpr Index kFewestForLaws = 30;
// What is expected of the basis is chosen by so many.
constexpr Index kFewestForExpectations = 6;
// How much to remember is chosen by so many predictions at least: three M-steps are among them.
constexpr Index kFewestToRemember = 48;
// Choices are made on more observations than a trial is fitted to, if there are so many times more.
constexpr Index kManyMore = 2;
// From a fit to fewer observations than this, each further one teaches much: what is compared are
// fits that learn from it, as the fit of the stream will.
constexpr Index kFewestToStandStill = 500;

// Whether exact EM is quick enough for trials: for states that all lead to each other, up to 143.
bool is_small(const AnyPrior& prior) {
  if (!prior.is_finite() || !is_in_exact_reach(prior)) return false;
  const FiniteChain& chain = prior.finite_chain();
  return chain.num_states() <= kMostStates &&
         chain.num_states() * moves_out_of_a_state(chain) <= kMostStates * kChannelsOfOverhead;
}

// A search under way: the trials, and what they are tried on.
class Search {
 public:
  Search(const RecordView& observations, const AnyPrior& prior, const AnyLaw& law,
         const std::vector<Index>& periods, bool background, const MStepOptions& options,
         std::uint64_t seed, const SearchEffort& effort, const ThreadPool& pool,
         const OnSearch& on_search)
      : observations_(observations),
        prior_(prior),
        periods_(periods),
        background_(background),
        options_(options),
        seed_(seed),
        effort_(effort),
        num_tried_(std::min(observations.size(), observations_to_try(observations.num_channels(),
                                                                     prior.num_components()))),
        pool_(pool),
        tasks_(pool, on_search),
        trials_(begin_on(observations, law, effort.random_starts)) {
    for (const StartTrial& trial : trials_) {
      if (trial.report.name == kCumulants) cumulants_ = trial.estimate.basis;
    }
  }

  // One more trial, which another search has found.
  void add(StartTrial trial) { trials_.push_back(std::move(trial)); }

  std::vector<StartTrial> run() {
    if (trials_.size() == 1) return std::move(trials_);
    const bool is_itself = is_small(prior_);
    const std::optional<AnyPrior> levels =
        is_itself ? std::nullopt : stand_in(prior_, kMostLevelStates, kMostStates);
    if (is_itself) {
      last_stage_ = by_exact_em(prior_);
      filter_ = exact_engines(ExactEngineOptions::Smoother::kNone, learns());
      learner_ = exact_engines(ExactEngineOptions::Smoother::kWindow, learns());
      run_stages(trials_, {last_stage_}, tasks_);
    } else if (levels) {
      for (StartTrial& trial : trials_) {
        trial.estimate.prior = *levels;
        trial.is_stand_in = true;
      }
      last_stage_ = by_particles();
      filter_ = particle_engines(learns());
      run_stages(trials_, {by_stand_in(*levels), last_stage_}, tasks_);
    } else if (is_in_beam_reach(prior_)) {
      filter_ = beam_engines(learns());
      last_stage_ = by_engine(filter_, kTrialBeamWidth, kMostBeamCells);
      run_stages(trials_, {last_stage_}, tasks_);
    } else if (prior_.is_affine()) {
      filter_ = fast_engines(learns());
      last_stage_ = by_engine(filter_, kFastPasses, kMostFastCells);
      run_stages(trials_, {last_stage_}, tasks_);
    } else {
      filter_ = particle_engines(learns());
      last_stage_ = by_particles();
      trials_ = {*std::ranges::find_if(trials_, &StartTrial::is_factorised)};
    }
    if (!learner_) learner_ = filter_;
    tasks_.set_steps(1, 1);
    return std::move(trials_);
  }

  // After run(): the trial, fitted to all that choices are made on.
  void refit(StartTrial& trial, const AnyLaw& law, const BasisExpectation& expectation) {
    tasks_.run(1, [&](Index) {
      trial.estimate = refitted(trial, law, tried_again().size(), expectation);
    });
  }

  // After run(), for a law that drifts, which the search has taken for one that does not.
  void let_levels_drift(StartTrial& trial) { refit(trial, trial.estimate.law, expectation_); }

  // After run(): channels whose season the components cannot follow would make every law look
  // dispersed, so choices are made on observations with the gains of such channels as exposures.
  // The gains are those of the part that choices are fitted to.
  void take_out_channel_profiles(const StartTrial& trial) {
    if (!can_compare() || trial.estimate.season.empty() || options_.holds(kChannelProfile)) return;
    const std::vector<Matrix> profiles =
        found_channel_profiles(with_law(filter_, trial.estimate), trial.estimate.season,
                               chosen_on().first(fitted_part(chosen_on().size())));
    observations_ = with_channel_profiles(observations_, profiles, exposed_);
  }

  // By a look at all observations at once, where activations are unbounded.
  void refine(StartTrial& trial) {
    if (effort_.is_light) return;
    MStepOptions options = options_;
    options.expectation = expectation_;
    tasks_.run(1, [&](Index) {
      is_refined_ = refine_start(
          observations_, cumulants_, options, seed_, [&] { tasks_.tell(); }, trial.estimate);
    });
  }

  const BasisExpectation& expectation() const { return expectation_; }
  const StartReport::BasisPrior& report_of_expectation() const { return report_of_expectation_; }

  // After run(): not where a single beginning was all that could be afforded.
  bool can_compare() const { return last_stage_.improve != nullptr; }

  // After run(): whether a law is worth a comparison. One with a hurdle is not unless counts are
  // narrow, nor is one without levels once levels have been found to drift. A light search does not
  // look for levels where counts are not dispersed.
  bool considers(const AnyLaw& law, const StartTrial& trial) const {
    if (effort_.is_light && drifts(law) && trial.estimate.law->has_plain_losses()) return false;
    if (!law->variance(0).has_hurdle()) return true;
    return are_narrow(chosen_on()) && (drifts(law) || !drifts(trial.estimate.law));
  }

  // After run(): the same trial under one law and under another, of which the better one is left.
  StartReport::LawChoice choose_law(const AnyLaw& other, StartTrial& trial) {
    const StartTrial impartial = without_hindsight(trial);
    const auto predict = [&](const AnyLaw& law) {
      return predictions(impartial, law, expectation_);
    };
    const AnyLaw next = with_parameters_of(trial.estimate.law, other);
    StartReport::LawChoice choice =
        compare_laws(trial.estimate.law, next, observations_.num_channels(), predict, tasks_);
    if (choice.chosen == next->name()) refit(trial, next, expectation_);
    return choice;
  }

  // At the end: the narrow law may do after all, since the basis is known better than when the
  // present law was chosen. `choices` then say so, and nothing of the law that is given up.
  void go_back_to(const AnyLaw& narrow, StartTrial& trial,
                  std::vector<StartReport::LawChoice>& choices) {
    const AnyLaw now = trial.estimate.law;
    if (now->name() == narrow->name()) return;
    const auto predict = [&](const AnyLaw& law) {
      Estimate estimate = trial.estimate;
      estimate.law = law;
      return held_out_predictions(*with_law(filter_, estimate), observations_,
                                  fitted_part(observations_.size()));
    };
    const StartReport::LawChoice choice =
        compare_laws(narrow, now, observations_.num_channels(), predict, tasks_);
    if (choice.chosen != narrow->name()) return;
    trial.estimate.law = narrow;
    std::erase_if(choices, [&](const auto& other) { return other.chosen != narrow->name(); });
    choices.push_back(choice);
  }

  // After run(), where counts are scarce, and enough of them are held out for several M-steps. Not
  // where the trial is fitted to a small part of the observations: such a start is still poor.
  StartReport::MemoryChoice choose_memory(const StartTrial& trial) {
    const Index known = fitted_part(tried_again().size());
    const bool is_fitted = chosen_on().size() == tried_again().size();
    const bool is_long_enough = observations_.size() - known >= kFewestToRemember;
    if (!is_fitted || !is_long_enough || !is_scarce(trial)) return {};
    const Estimate start = refitted(trial, trial.estimate.law, known, expectation_);
    const auto predict = [&](Memory memory) {
      return predictions_while_learning(start, observations_, known,
                                        steps_after_search(known, memory), expectation_);
    };
    return headwater::choose_memory(predict, tasks_);
  }

  // After run(): whether the observations that laws would have to predict tell them apart.
  bool can_tell_laws() const {
    const RecordView all = chosen_on();
    const Index fitted = fitted_part(all.size());
    return headwater::can_tell_laws(all.part(fitted, all.size() - fitted));
  }
  // After run(), where counts are scarce: finds out what is to be expected of the basis under the
  // law chosen so far, and fits the trial with that. Where that cannot be found out, or counts are
  // many but a channel has been silent, little is expected.
  void choose_expectation(StartTrial& trial) {
    if (!options_.has_default_basis_prior() || options_.hold_basis) return;
    const bool is_scarce = has_scarce_counts(observations_, trial.estimate.basis.cols());
    if (!is_scarce && !has_silent_channel(observations_)) return;
    expectation_ = expectation_around(trial.estimate.basis, prior_, usual_channels(observations_));
    expectation_.counts = is_scarce ? kUsualExpectation : kLeastExpectation;
    report_of_expectation_ = {expectation_.counts, 0, 0};
    if (!can_compare()) return;
    if (is_scarce && observations_.size() >= kFewestForExpectations) compare_expectations(trial);
    refit(trial, trial.estimate.law, expectation_);
  }

 private:
  std::vector<StartTrial> begin_on(const RecordView& observations, const AnyLaw& law,
                                   Index random_starts) const {
    const std::vector<Matrix> profiles = channel_profiles(observations, periods_);
    const Matrix rates = profiles.empty()
                             ? observations.rates()
                             : RecordView(without_season(observations, profiles)).rates();
    std::vector<StartTrial> trials;
    for (Beginning& begin : beginnings(rates, prior_, law, seed_, random_starts, pool_)) {
      Matrix basis = background_ ? with_background(std::move(begin.basis), background_start(rates))
                                 : std::move(begin.basis);
      Estimate estimate = with_season({std::move(basis), prior_, law}, profiles);
      trials.push_back({{begin.name, 0, 0}, std::move(estimate), false, begin.is_factorised});
    }
    return trials;
  }

  // What is compared knows nothing of the observations that are held out, neither of the columns
  // nor of the channels.
  void compare_expectations(const StartTrial& trial) {
    const StartTrial impartial = without_hindsight(trial);
    const RecordView known = tried_again().first(fitted_part(tried_again().size()));
    const auto predict = [&](const BasisExpectation& expectation) {
      return predictions(impartial, trial.estimate.law, expectation);
    };
    const ExpectationChoice choice = headwater::choose_expectation(
        expectation_around(impartial.estimate.basis, prior_, usual_channels(known)), predict,
        tasks_);
    expectation_.counts = choice.expectation.counts;
    report_of_expectation_ = choice.report;
  }

  bool learns() const { return learns_prior(options_, prior_); }
  bool is_scarce(const StartTrial& trial) const {
    return !options_.hold_basis && has_scarce_counts(observations_, trial.estimate.basis.cols());
  }

  // Those that a trial is fitted to again after run().
  RecordView tried_again() const {
    const Index all = std::max(last_stage_.rounds.back().observations, effort_.fewest_observations);
    return observations_.first(std::min(observations_.size(), all));
  }
  // Those that choices are made on: more, if they are many more. The first observations of a
  // stream may be a quiet time that tells nothing of the law. A fit that learns as it goes looks at
  // each once, which costs no more than the iterations of the fit before.
  RecordView chosen_on() const {
    const Index tried = tried_again().size();
    const Index all = std::min(observations_.size(), tried * effort_.choice_iterations);
    return effort_.is_light || all < kManyMore * tried ? tried_again() : observations_.first(all);
  }
  // The trial that laws are compared with. The search has fitted its trial to what is held out,
  // too, and some iterations on the rest do not undo that. Where observations are few, they begin
  // anew: a basis that knows what it is to predict needs no levels that follow the counts.
  StartTrial without_hindsight(const StartTrial& trial) const {
    const Index tried = tried_again().size();
    const Index known = fitted_part(tried);
    const bool is_unseen = fitted_part(chosen_on().size()) >= tried;
    if (is_unseen || known >= kFewestToStandStill) return trial;
    std::vector<StartTrial> fresh = begin_on(observations_.first(known), trial.estimate.law, 1);
    return std::move(*std::ranges::find_if(fresh, &StartTrial::is_factorised));
  }
  std::unique_ptr<Engine> with_law(const MakeTrialEngine& make, const Estimate& estimate) const {
    return with_levels(make(estimate, seed_), estimate.law);
  }
  // Of the last third of those that choices are made on.
  Vector predictions(const StartTrial& trial, const AnyLaw& law,
                     const BasisExpectation& expectation) {
    const RecordView all = chosen_on();
    const Index known = fitted_part(tried_again().size());
    const Index fitted = fitted_part(all.size());
    const Estimate start = refitted(trial, law, known, expectation);
    const bool stands_still = known == fitted && known >= kFewestToStandStill;
    if (stands_still) return held_out_predictions(*with_law(filter_, start), all, fitted);
    return predictions_while_learning(start, all, fitted, steps_after_search(known, Memory::kShort),
                                      expectation);
  }
  // Of those after the fitted ones, by a fit that goes on from there.
  Vector predictions_while_learning(const Estimate& start, const RecordView& all, Index fitted,
                                    const StepSize& steps, const BasisExpectation& expectation) {
    MStepOptions options = last_stage_.options;
    options.expectation = expectation;
    return headwater::predictions_while_learning(with_law(learner_, start), start, all,
                                                 fitted_part(tried_again().size()), fitted, steps,
                                                 options, [&] { tasks_.tell(); });
  }
  Estimate refitted(const StartTrial& trial, const AnyLaw& law, Index observations,
                    const BasisExpectation& expectation) {
    StartTrial result = trial;
    result.estimate.law = law;
    MStepOptions options = last_stage_.options;
    options.expectation = expectation;
    const OnIteration tell = [&](std::int64_t, double, const Estimate&) { tasks_.tell(); };
    if (is_refined_ && most_to_refine_on(result.estimate) >= observations) {
      return refitted_by_look(observations_.first(observations), result.estimate, options,
                              [&] { tasks_.tell(); });
    }
    if (drifts(law)) {
      const MakeTrialEngine make = [&](const Estimate& estimate, std::uint64_t seed) {
        return with_levels(learner_(estimate, seed), estimate.law);
      };
      improve_by_engine(result, observations_.first(observations), effort_.choice_iterations,
                        options, make, seed_, tell);
    } else {
      last_stage_.improve(result, {observations, effort_.choice_iterations, 1}, options, tell);
    }
    return result.estimate;
  }
  Index num_columns() const { return trials_[0].estimate.basis.cols(); }
  Index most_affordable(Index width, double most_cells) const {
    return effort_.affordable(num_tried_, width, observations_.num_channels(), most_cells);
  }

  Index most_states_affordable(const FiniteChain& chain) const {
    return effort_.affordable(num_tried_, chain.num_states(), observations_.num_channels(),
                              kMostStateCells, moves_out_of_a_state(chain));
  }

  SearchStage by_exact_em(const AnyPrior& prior) const {
    return {effort_.rounds_by_exact_em(most_states_affordable(prior.finite_chain())), exactly(),
            options_};
  }
  // What the options hold are parameters of the prior, which the stand-in does not have.
  SearchStage by_stand_in(const AnyPrior& levels) const {
    MStepOptions options = options_;
    options.held_parameters.clear();
    return {effort_.rounds_by_stand_in(most_states_affordable(levels.finite_chain())), exactly(),
            std::move(options)};
  }
  SearchStage by_particles() const {
    const Index all = most_affordable(kTrialParticles * num_columns(), kMostParticleCells);
    return {effort_.rounds_by_particles(all, prior_.has_scale()),
            with_engines(particle_engines(learns())), options_};
  }
  SearchStage by_engine(MakeTrialEngine make, Index width, double most_cells) const {
    return {effort_.rounds_by_engine(most_affordable(width * num_columns(), most_cells)),
            with_engines(std::move(make)), options_};
  }

  ImproveTrial exactly() const {
    return [this](StartTrial& trial, const Round& round, const MStepOptions& options,
                  const OnIteration& tell) {
      improve(trial, observations_.first(round.observations), round.iterations, options, tell);
    };
  }
  ImproveTrial with_engines(MakeTrialEngine make) const {
    return [this, make = std::move(make)](StartTrial& trial, const Round& round,
                                          const MStepOptions& options, const OnIteration& tell) {
      if (trial.is_stand_in) put_under(prior_, trial);
      improve_by_engine(trial, observations_.first(round.observations), round.iterations, options,
                        make, seed_, tell);
    };
  }

  RecordView observations_;
  Record exposed_;  // the same, with gains of channels
  const AnyPrior& prior_;
  const std::vector<Index>& periods_;
  bool background_;
  const MStepOptions& options_;
  std::uint64_t seed_;
  SearchEffort effort_;
  Index num_tried_;
  const ThreadPool& pool_;
  SearchTasks tasks_;
  std::vector<StartTrial> trials_;
  Matrix cumulants_;  // a beginning, as it was
  SearchStage last_stage_;
  MakeTrialEngine filter_;  // which need not learn
  MakeTrialEngine learner_;
  bool is_refined_ = false;       // so that a look at all observations is a good one
  BasisExpectation expectation_;  // that has been chosen
  StartReport::BasisPrior report_of_expectation_;
};

}  // namespace

namespace {

// Whether this is known before a search that looks at all of them: laws are compared by the last
// third.
bool are_too_few_for_laws(const RecordView& observations, const SearchEffort& effort) {
  const Index size = observations.size();
  const Index fitted = fitted_part(size);
  if (size < kFewestForLaws) return true;
  return size <= effort.fewest_observations &&
         !can_tell_laws(observations.part(fitted, size - fitted));
}

}  // namespace

StartSearch automatic_start(const RecordView& observations, const AnyPrior& prior,
                            const std::vector<AnyLaw>& all_laws, bool background,
                            const MStepOptions& options, std::uint64_t seed,
                            const OnSearch& on_search, const std::vector<Index>& periods,
                            const SearchEffort& effort, const ThreadPool& pool) {
  const auto search_under = [&](const AnyLaw& law) {
    return std::make_unique<Search>(observations, prior, law, periods, background, options, seed,
                                    effort, pool, on_search);
  };
  std::vector<AnyLaw> laws = all_laws;
  StartReport report;
  // Where there is too little to compare laws by, a law that is too wide costs little, and one that
  // is too narrow may cost everything.
  const auto take_the_widest = [&] {
    laws = {widest_law(all_laws)};
    report.too_few_for_laws = true;
  };
  if (laws.size() > 1 && are_too_few_for_laws(observations, effort)) take_the_widest();
  std::unique_ptr<Search> search = search_under(laws.front());
  std::vector<StartTrial> trials = search->run();
  if (laws.size() > 1 && search->can_compare() && !search->can_tell_laws()) {
    take_the_widest();
    search->refit(trials.front(), laws.front(), {});
  }
  search->take_out_channel_profiles(trials.front());
  if (search->can_compare() && drifts(laws.front())) search->let_levels_drift(trials.front());
  // A basis that is not known well makes every law look dispersed. So it is refined before choices,
  // and where counts are scarce, what is expected of it is found between two choices, and again
  // under a law that was chosen with that.
  search->refine(trials.front());
  const Estimate refined = trials.front().estimate;
  if (search->can_compare()) {
    for (std::size_t i = 1; i < std::min(laws.size(), effort.most_laws); ++i) {
      if (!search->considers(laws[i], trials.front())) continue;
      report.laws.push_back(search->choose_law(laws[i], trials.front()));
      const bool is_chosen = report.laws.back().chosen == laws[i]->name();
      if (i > 1 && !is_chosen) continue;
      // Under a law that is too narrow, the best trial is the one that explains the scatter of the
      // counts by activations. So the others are given a chance under the law that was chosen.
      if (i == 1 && is_chosen && !effort.is_light) {
        std::unique_ptr<Search> again = search_under(trials.front().estimate.law);
        again->add(std::move(trials.front()));
        trials = again->run();
        again->take_out_channel_profiles(trials.front());
        search = std::move(again);
      }
      search->choose_expectation(trials.front());
    }
  }
  if (laws.size() == 1 || !search->can_compare()) search->choose_expectation(trials.front());
  if (search->can_compare() && !effort.is_light) {
    report.memory = search->choose_memory(trials.front());
  }
  const Estimate& chosen = trials.front().estimate;
  const bool is_as_refined =
      chosen.basis == refined.basis && chosen.law->name() == refined.law->name();
  if (!is_as_refined) {
    search->refine(trials.front());
    if (laws.size() > 1) search->go_back_to(laws.front(), trials.front(), report.laws);
  }
  report.chosen = trials.front().report.name;
  report.basis_prior = search->report_of_expectation();
  for (const StartTrial& trial : trials) report.trials.push_back(trial.report);
  return {std::move(trials.front().estimate), search->expectation(), std::move(report)};
}

}  // namespace headwater
