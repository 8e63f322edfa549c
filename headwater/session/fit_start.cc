#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headwater/core/duration.hpp"
#include "headwater/emission/hurdle.hpp"
#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/initialise.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/learning/period_search.hpp"
#include "headwater/learning/seasonal_start.hpp"
#include "headwater/learning/step_choice.hpp"
#include "headwater/registry.hpp"
#include "headwater/session/fit.hpp"

// How a fit starts: what is held back, provisional and random starts, searches, the learners'
// options.

namespace headwater {

namespace {

// A start looks at so many periods, if memory allows.
constexpr Index kPeriodsToSee = 3;

// To look for a period, a start waits for so many observations times kPeriodsToSee.
constexpr Index kPeriodsLookedFor = 336;

// How many observations a random start is scaled to.
constexpr std::int64_t kStartObservations = 100;

// The first M-step waits for so many observations where no start was searched for.
constexpr std::int64_t kBurnIn = 100;

// Entries of a starting basis for which counts over intensities are safe.
constexpr double kSmallestStart = 1e-200;
constexpr double kLargestStart = 1e15;

constexpr const char* kDispersion = "dispersion";

constexpr double kRidgeAfterSearch = 0.15;

// So many observations have equal weights after a start that is given.
constexpr std::int64_t kEvenGiven = 1000;

// Observations after which a component may be found idle.
constexpr std::int64_t kReviveAfter = 1000;

}  // namespace

MStepOptions Session::Fit::m_step_options(const AnyPrior& prior,
                                          const BasisExpectation& expectation) const {
  MStepOptions options = config_.effective_m_step();
  const bool has_particles =
      prior.is_finite() && choose_engine(config_, prior, 0).kind == EngineKind::kParticle;
  if (has_particles && !config_.paper_exact) {
    options.transition_floor = std::min(0.1, 2 / static_cast<double>(config_.engine.num_particles));
  }
  options.expectation = expectation;
  if (!config_.season.periods.empty() && !config_.learns_channel_profiles()) {
    options.held_parameters.emplace_back(kChannelProfile);
  }
  return options;
}

void Session::Fit::check_start() const {
  const Matrix& basis = config_.initial_basis;
  if (basis.size() == 0) return;
  const Index columns = config_.num_components + (config_.background ? 1 : 0);
  if (basis.cols() != config_.num_components && basis.cols() != columns) {
    throw InputError(
        fmt::format("the starting basis has {} columns; expected {}, one for each "
                    "component",
                    basis.cols(), config_.num_components));
  }
  for (const double entry : basis.reshaped()) {
    if (entry == 0 || (entry >= kSmallestStart && entry <= kLargestStart)) continue;
    throw InputError(
        fmt::format("the starting basis has the entry {}; expected 0, or from {:g} to {:g}", entry,
                    kSmallestStart, kLargestStart));
  }
}

bool Session::Fit::learns_season() const {
  return !config_.season.periods.empty() && !config_.m_step.holds(kProfile);
}

bool Session::Fit::searches() const {
  return config_.init == Init::kAuto && config_.initial_basis.size() == 0 &&
         !config_.m_step.hold_basis && !config_.paper_exact;
}

Index Session::Fit::num_to_hold_back() const {
  Index most = 0;
  for (const AnyPrior& prior : priors_) most = std::max(most, num_to_hold_back(prior));
  return most;
}

Index Session::Fit::num_to_hold_back(const AnyPrior& prior) const {
  Index longest = 0;
  for (const Period& period : config_.season.periods) {
    longest = std::max(longest, period.is_auto() ? kPeriodsLookedFor : steps_of(period));
  }
  const Index wanted = searches() ? start_buffer(num_channels_, prior, kPeriodsToSee * longest)
                                  : std::max<Index>(kStartObservations, kPeriodsToSee * longest);
  return config_.start_on > 0 ? std::min<Index>(wanted, config_.start_on) : wanted;
}

bool Session::Fit::start_is_given() const {
  return config_.initial_basis.cols() == config_.num_components + (config_.background ? 1 : 0);
}

bool Session::Fit::wants_to_hold_back() const { return !start_is_given() || learns_season(); }

std::vector<AnyLaw> Session::Fit::laws() const {
  const bool is_auto = config_.counts.law == CountsConfig::kAuto;
  if (!is_auto) return {make_law(num_channels_, config_.counts)};
  if (config_.paper_exact) return {AnyLaw()};
  std::vector<AnyLaw> laws = {AnyLaw()};
  for (const char* name :
       {NegativeBinomial::kName, NegativeBinomial::kDrifting, Hurdle::kName, Hurdle::kDrifting}) {
    laws.push_back(law_of(name));
  }
  return laws;
}

AnyLaw Session::Fit::law_of(const std::string& name) const {
  const auto& own = find_law(name).parameters;
  CountsConfig counts = config_.counts;
  counts.law = name;
  std::erase_if(counts.parameters, [&](const Parameter& parameter) {
    return std::ranges::find(own, parameter.name, &LawInfo::ParameterInfo::name) == own.end();
  });
  return make_law(num_channels_, counts);
}

Index Session::Fit::steps_of(const Period& period) const {
  if (period.seconds == 0) return period.steps;
  if (seconds_a_row_ == 0) {
    throw UsageError(fmt::format(
        "period {} is a duration, and the rows have no times; expected a number of rows, or the "
        "option time-column",
        period.text()));
  }
  const Index steps = steps_of_duration(period.text(), seconds_a_row_);
  if (steps >= 2 && steps <= kLongestPeriod) return steps;
  throw UsageError(
      fmt::format("period {} is {} rows; expected 2 to {}", period.text(), steps, kLongestPeriod));
}

std::vector<Index> Session::Fit::known_periods() const {
  std::vector<Index> periods;
  for (const Period& period : config_.season.periods) {
    if (!period.is_auto()) periods.push_back(steps_of(period));
  }
  std::ranges::sort(periods);
  return periods;
}

std::vector<Index> Session::Fit::choose_periods(const RecordView& observations,
                                                StartReport& report) const {
  std::vector<Index> periods = known_periods();
  if (std::ranges::none_of(config_.season.periods, &Period::is_auto)) return periods;
  report.looked_for_periods = true;
  report.periods = find_periods(observations);
  for (const StartReport::PeriodChoice& found : report.periods) {
    if (std::ranges::find(periods, found.period) == periods.end() &&
        std::ssize(periods) < kMostPeriods) {
      periods.push_back(found.period);
    }
  }
  std::ranges::sort(periods);
  return periods;
}

Matrix Session::Fit::with_background(Matrix basis, const RecordView& observations) const {
  if (!config_.background || basis.cols() != config_.num_components) return basis;
  basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
  basis.rightCols(1) = background_start(observations);
  return basis;
}

// Levels that drift, until the first search has chosen: too narrow a law predicts far worse than
// one that is too wide, and levels follow their channels before there is a basis.
AnyLaw Session::Fit::provisional_law(const RecordView& observations) const {
  const std::vector<AnyLaw> all = laws();
  if (all.size() == 1) return all.front();
  AnyLaw law = widest_law(all);
  const bool is_given = find_parameter(config_.counts.parameters, kDispersion) != nullptr;
  if (!is_given && !config_.m_step.holds(kDispersion)) {
    law.set_parameter(scalar_parameter(kDispersion, dispersion_so_far(observations)));
  }
  return law;
}

const Vector& Session::Fit::mean_of_provisional_prior() const {
  if (provisional_mean_.size() == 0) provisional_mean_ = mean_activation(provisional_prior());
  return provisional_mean_;
}

Matrix Session::Fit::provisional_basis(const RecordView& observations) const {
  const Vector& mean = mean_of_provisional_prior();
  if (even_factors_.size() == 0) {
    even_factors_ = even_factors(observations.num_channels(), mean.size(), config_.seed);
  }
  Matrix basis = config_.initial_basis.size() > 0 ? config_.initial_basis
                                                  : even_start(observations, mean, even_factors_);
  return with_background(std::move(basis), observations);
}

Start Session::Fit::provisional_start(const RecordView& observations) const {
  const Season season = Season::flat(config_.num_components, known_periods());
  const AnyPrior& prior = provisional_prior();
  if (start_is_given()) {
    return {{config_.initial_basis, prior, laws().front(), season}};
  }
  return {{provisional_basis(observations), prior, provisional_law(observations), season}};
}

Start Session::Fit::find_start(const RecordView& observations, const SearchEffort& effort) const {
  StartReport report;
  const Record kept = guards() ? without_lone_giants(observations) : Record();
  const RecordView usual = guards() ? RecordView(kept) : observations;
  const std::vector<Index> periods = choose_periods(usual, report);
  const Season flat = Season::flat(config_.num_components, periods);
  if (searches()) {
    const std::vector<PriorScore> priors = compare_priors(usual, periods, effort);
    const auto chosen = std::ranges::find_if(priors, &PriorScore::chosen);
    StartSearch found = search_start(
        usual, chosen == priors.end() ? provisional_prior() : start_prior(chosen->prior), periods,
        effort);
    found.report.priors = priors;
    found.report.looked_for_periods = report.looked_for_periods;
    found.report.periods = std::move(report.periods);
    if (!learns_season()) found.estimate.season = flat;
    return {std::move(found.estimate), std::move(found.expectation), std::move(found.report)};
  }
  const AnyPrior& prior = provisional_prior();  // the only one where there is no search
  Matrix basis = config_.initial_basis.size() > 0 ? config_.initial_basis
                                                  : random_start(observations, prior, config_.seed);
  Estimate start{with_background(std::move(basis), observations), prior, laws().front(), flat};
  if (!learns_season()) return {std::move(start), {}, std::move(report)};
  return {with_season(std::move(start), channel_profiles(observations, periods),
                      config_.initial_basis.size() > 0 ? Columns::kStay : Columns::kChange),
          {},
          std::move(report)};
}

// After a search the first M-step waits until what was searched is in, with equal weights: the
// start fits these observations already, and statistics of the latest of them would undo that. From
// there smaller steps suffice, lengthened by less, and bring less noise. So they do after a start
// that is given; but it may be far off, and the stream short, so that M-steps do not wait: only the
// first observations weigh the same. Where activations know no bound, steps are not lengthened, nor
// are there looks after a given start. Smaller ones would not get to the end there (decision 60).
// Steps or a burn-in that somebody has asked for are taken as they are.
OnlineEmOptions Session::Fit::learner_options(const AnyPrior& prior,
                                              const BasisExpectation& expectation,
                                              std::int64_t waits_for, bool remembers) const {
  OnlineEmOptions options;
  options.step_size = config_.step_size;
  options.burn_in = config_.burn_in > 0 ? config_.burn_in : kBurnIn;
  const bool is_automatic = config_.step_size.is_automatic();
  if (is_continued_ ? is_after_search_ && is_automatic : waits_for_search()) {
    options.burn_in = std::max<std::int64_t>(is_continued_ ? even_beginning_ : waits_for, 1);
    options.step_size =
        steps_after_search(options.burn_in, remembers ? Memory::kLong : Memory::kShort);
    options.least_ridge = kRidgeAfterSearch;
  } else if (!is_continued_ && trusts_given_start()) {
    options.step_size = prior.has_scale() ? config_.step_size.with_even_beginning(kEvenGiven)
                                          : steps_after_search(kEvenGiven, Memory::kShort);
    options.least_ridge = kRidgeAfterSearch;
  }
  if (waits_for == Contender::kNever) options.burn_in = Contender::kNever;
  if (is_continued_) options.burn_in = 0;  // that was waited for
  if (grows_from_ > 0) {
    options.step_size = steps_after_search(grows_from_, Memory::kLong);
  }
  options.average = config_.averages();
  options.rescue_short_streams = !config_.paper_exact;
  options.lengthen_steps = !config_.paper_exact;
  options.revive_after = config_.paper_exact ? 0 : kReviveAfter;
  options.seed = config_.seed;
  options.keep_blocks = config_.standard_errors;
  options.m_step = m_step_options(prior, expectation);
  return options;
}

BatchEmOptions Session::Fit::batch_options(const AnyPrior& prior,
                                           const BasisExpectation& expectation) const {
  BatchEmOptions options;
  options.max_iterations = config_.iterations;
  options.tolerance = config_.tolerance;
  options.unseen_past = !config_.paper_exact;
  options.m_step = m_step_options(prior, expectation);
  options.m_step.shrink_profile = false;  // batch EM climbs the likelihood itself
  return options;
}

}  // namespace headwater
